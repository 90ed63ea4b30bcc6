"""Run behind walls by attacks.py: makes every attempt of the table and prints, as JSON, which succeeded.

Arguments: a JSON object with a file and a folder outside (secret, private), a file that may be read (readable), two local sockets, the
number of the process that started the walls (parent), and a folder that may be written (own). No attempt may do lasting harm when it succeeds.
"""
import ctypes
import errno
import fcntl
import json
import mmap
import os
import platform
import resource
import signal
import socket
import struct
import sys

place = json.loads(sys.argv[1])
secret, private, listening, parent, own = (place[name] for name in ("secret", "private", "socket", "parent", "own"))
libc = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"
NUMBERS = {  # x86-64, aarch64
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438), "kcmp": (312, 272), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "bpf": (321, 280), "keyctl": (250, 219), "add_key": (248, 217), "userfaultfd": (323, 282), "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180), "clone3": (435, 435), "openat2": (437, 437), "execveat": (322, 281),
    "syslog": (103, 116), "personality": (135, 92), "sethostname": (170, 161), "clock_settime": (227, 112), "settimeofday": (164, 170), "adjtimex": (159, 171),
    "swapon": (167, 224), "reboot": (169, 142), "quotactl": (179, 60), "acct": (163, 89), "init_module": (175, 105), "kexec_load": (246, 104),
    "fanotify_init": (300, 262), "inotify_init1": (294, 26), "move_pages": (279, 239), "migrate_pages": (256, 238), "process_madvise": (440, 440),
    "fsopen": (430, 430), "open_tree": (428, 428), "landlock_restrict_self": (446, 446), "fchmodat2": (452, 452), "tkill": (200, 130), "lookup_dcookie": (212, 18),
    "io_setup": (206, 0), "seccomp": (317, 277), "setuid": (105, 146), "setgid": (106, 144), "capset": (126, 91), "vhangup": (153, 58), "sync": (162, 81),
    "modify_ldt": (154, -1), "iopl": (172, -1), "ioperm": (173, -1), "process_mrelease": (448, 448), "cachestat": (451, 451),
}


def call(name, *arguments):
    """The result of a system call; raises OSError when it fails."""
    number = NUMBERS[name][0 if X86 else 1]
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_void_p(a) if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def reaches(name, *arguments):
    """Whether a call is let through to the kernel: refused by a filter it says EPERM or ENOSYS, whatever its arguments."""
    try:
        call(name, *arguments)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOSYS):
            raise


def read(path):
    with open(path, "rb") as file:
        return file.read(1)


def write(path, flags=0):
    os.close(os.open(path, os.O_WRONLY | flags, 0o600))


def sends(kind, address=None):
    with socket.socket(socket.AF_UNIX, kind) as one:
        one.sendto(b"x", address or listening)


def connects(family, kind, address):
    with socket.socket(family, kind) as one:
        one.settimeout(1)
        try:
            one.connect(address)
        except ConnectionRefusedError:
            pass


def forks():
    number = os.fork()
    if number == 0:
        os._exit(0)
    os.waitpid(number, 0)


def execs():
    try:
        os.execv("/no/such/program", ["x"])
    except FileNotFoundError:
        pass


def leaves_group():
    before = os.getpgrp(), os.getsid(0)
    number = os.fork()
    if number == 0:
        os.setsid()
        os._exit(0 if os.getsid(0) != before[1] else 1)
    if os.waitpid(number, 0)[1] != 0:
        raise PermissionError


def outgrows_file():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path = os.path.join(own, "large")
    try:
        with open(path, "wb") as file:
            file.truncate(1 << 40)
    finally:
        os.path.exists(path) and os.remove(path)


def raises_limit():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard + 1, hard + 1))


def owner_of_signals(command):
    ends = os.pipe()
    fcntl.fcntl(ends[0], command, parent if command == fcntl.F_SETOWN else struct.pack("ii", 1, parent))


def link_out():
    target = os.path.join(own, "out")
    os.path.lexists(target) and os.remove(target)
    os.symlink(secret, target)
    try:
        read(target)
    finally:
        os.remove(target)


def hard_link():
    target = os.path.join(own, "hard")
    os.link(secret, target)
    os.remove(target)


def through_descriptor():
    folder = os.open(own, os.O_PATH)
    os.close(os.open("../" * 20 + secret.lstrip("/"), os.O_RDONLY, dir_fd=folder))


def opened_before():
    """A descriptor of the parent that leads out."""
    for number in range(4, 256):
        try:
            if os.path.exists(os.readlink("/proc/self/fd/%d" % number)) and not os.readlink("/proc/self/fd/%d" % number).startswith(("/usr", own, "/dev")):
                return
        except OSError:
            pass
    raise PermissionError


def keys(path):
    with open(path, "rb") as file:
        if b"sesame" not in file.read():
            raise PermissionError


def x32():
    # The x32 form of getpid: a process of ours that makes it is killed, so this is tried by a fork where there are forks.
    number = os.fork()
    if number == 0:
        os._exit(0 if libc.syscall(ctypes.c_long(0x40000000 + 39)) > 0 else 1)
    if os.waitpid(number, 0)[1] != 0:
        raise PermissionError


P = "/proc/%d/" % parent
FILES, NETWORK, SIGNALS, MEMORY, PROCESSES, PRIVILEGES, KEYS = "files", "network", "signals", "memory", "processes", "privileges", "keys"
TABLE = [  # what is tried, the property that stops it, how
    ("read a file of the user", FILES, lambda: read(secret)),
    ("read a file through a link in its own folder", FILES, link_out),
    ("give a file of the user a second name in its own folder", FILES, hard_link),
    ("read a file from a folder's descriptor with ..", FILES, through_descriptor),
    ("use a descriptor that its parent left open", FILES, opened_before),
    ("list a folder of the user", FILES, lambda: os.listdir(private)),
    ("create a file", FILES, lambda: write(os.path.join(private, "made"), os.O_CREAT)),
    ("append to a file", FILES, lambda: write(secret, os.O_APPEND)),
    ("empty a file opened for reading", FILES, lambda: os.close(os.open(place["readable"], os.O_RDONLY | os.O_TRUNC))),
    ("truncate a file by name", FILES, lambda: os.truncate(place["readable"], 0)),
    ("remove a file", FILES, lambda: os.remove(os.path.join(private, "spare"))),
    ("rename a file", FILES, lambda: os.rename(private + "/spare2", private + "/moved")),
    ("make a folder", FILES, lambda: os.mkdir(os.path.join(private, "folder"))),
    ("make a pipe with a name", FILES, lambda: os.mkfifo(os.path.join(private, "pipe"))),
    ("make a device", FILES, lambda: os.mknod(os.path.join(own, "device"), 0o600 | 0o020000, os.makedev(1, 3))),
    ("change a file's mode", FILES, lambda: os.chmod(secret, 0o600)),
    ("make a program of its own run as its user for others", FILES, lambda: (write(own + "/suid", os.O_CREAT), os.chmod(own + "/suid", 0o4755))),
    ("change a file's mode by the newest call", FILES, lambda: call("fchmodat2", -100, ctypes.c_char_p(secret.encode()), 0o600, 0)),
    ("change a file's owner", FILES, lambda: os.chown(secret, os.getuid(), os.getgid())),
    ("change a file's attributes", FILES, lambda: os.setxattr(secret, "user.x", b"1")),
    ("change a file's times", FILES, lambda: os.utime(secret)),
    ("make a file immutable", FILES, lambda: fcntl.ioctl(os.open(own, os.O_RDONLY), 0x40086602, struct.pack("l", 0))),
    ("open a file by its handle", FILES, lambda: reaches("open_by_handle_at", -1, 0, 0)),
    ("ask for a file's handle", FILES, lambda: reaches("name_to_handle_at", -1, 0, 0, 0, 0)),
    ("open by the call that filters cannot read", FILES, lambda: reaches("openat2", -1, 0, 0, 0)),
    ("open files through io_uring", FILES, lambda: reaches("io_uring_setup", 1, 0)),
    ("open files through the older asynchronous calls", FILES, lambda: reaches("io_setup", 1, 0)),
    ("watch all files of the machine", FILES, lambda: reaches("fanotify_init", 0, 0)),
    ("watch a folder", FILES, lambda: reaches("inotify_init1", 0)),
    ("mount", FILES, lambda: reaches("mount", 0, 0, 0, 0, 0)),
    ("mount by the new calls", FILES, lambda: reaches("fsopen", 0, 0)),
    ("copy a mount", FILES, lambda: reaches("open_tree", -1, 0, 0)),
    ("unmount", FILES, lambda: reaches("umount2", 0, 0)),
    ("change its root folder", FILES, lambda: reaches("chroot", 0)),
    ("exchange the root folder", FILES, lambda: reaches("pivot_root", 0, 0)),
    ("stop other programs from opening a file (lease)", FILES, lambda: fcntl.fcntl(os.open(place["readable"], os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)),
    ("be told when a folder changes", FILES, lambda: fcntl.fcntl(os.open("/usr", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_CREATE)),
    ("write all caches to disk again and again", FILES, lambda: reaches("sync")),
    ("type into a terminal", FILES, lambda: fcntl.ioctl(0, 0x5412, b"x")),
    ("a TCP socket", NETWORK, lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM)),
    ("a TCP socket of IPv6", NETWORK, lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM)),
    ("a connection to this machine", NETWORK, lambda: connects(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 9))),
    ("a UDP socket", NETWORK, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)),
    ("a raw socket", NETWORK, lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)),
    ("a packet socket", NETWORK, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)),
    ("a netlink socket", NETWORK, lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)),
    ("a socket to the machine's host (vsock)", NETWORK, lambda: socket.socket(40, socket.SOCK_STREAM)),
    ("a socket of the kernel's ciphers", NETWORK, lambda: socket.socket(38, socket.SOCK_SEQPACKET)),
    ("a connection to a local socket", NETWORK, lambda: connects(socket.AF_UNIX, socket.SOCK_STREAM, listening)),
    ("a connection to an abstract socket", NETWORK, lambda: connects(socket.AF_UNIX, socket.SOCK_STREAM, "\0kw-no-such")),
    ("a datagram to a local socket", NETWORK, lambda: sends(socket.SOCK_DGRAM, place["datagrams"])),
    ("a pair of datagram sockets", NETWORK, lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)),
    ("signal its parent", SIGNALS, lambda: os.kill(parent, 0)),
    ("signal every process", SIGNALS, lambda: os.kill(1, 0)),
    ("signal a thread of another process", SIGNALS, lambda: call("tkill", parent, 0)),
    ("signal through a process descriptor", SIGNALS, lambda: reaches("pidfd_send_signal", -1, 0, 0, 0)),
    ("open a process descriptor", SIGNALS, lambda: call("pidfd_open", parent, 0)),
    ("send a signal when a pipe is ready", SIGNALS, lambda: owner_of_signals(fcntl.F_SETOWN)),
    ("the same by the newer call", SIGNALS, lambda: owner_of_signals(15)),
    ("end a process's memory", SIGNALS, lambda: reaches("process_mrelease", -1, 0)),
    ("share memory under a number", MEMORY, lambda: call("shmget", 0, 4096, 0o1600)),
    ("make a queue of messages", MEMORY, lambda: call("msgget", 0, 0o1600)),
    ("make semaphores", MEMORY, lambda: call("semget", 0, 1, 0o1600)),
    ("make a queue with a name", MEMORY, lambda: reaches("mq_open", 0, 0, 0, 0)),
    ("memory that no limit of a process counts", MEMORY, lambda: mmap.mmap(-1, 4096)),
    ("files in memory without a limit", MEMORY, lambda: call("memfd_create", ctypes.c_char_p(b"x"), 0)),
    ("memory that the kernel cannot see", MEMORY, lambda: reaches("memfd_secret", 0xFFFF)),
    ("a file larger than its limit", MEMORY, outgrows_file),
    ("more open files than its limit", MEMORY, raises_limit),
    ("read another process's memory", PROCESSES, lambda: read(P + "mem")),
    ("read another process's memory by a call", PROCESSES, lambda: reaches("process_vm_readv", parent, 0, 0, 0, 0, 0)),
    ("write another process's memory by a call", PROCESSES, lambda: reaches("process_vm_writev", parent, 0, 0, 0, 0, 0)),
    ("trace another process", PROCESSES, lambda: reaches("ptrace", 0x4206, parent, 0, 0)),
    ("take a descriptor of another process", PROCESSES, lambda: reaches("pidfd_getfd", -1, 0, 0)),
    ("compare with another process", PROCESSES, lambda: reaches("kcmp", parent, parent, 0, 0, 0)),
    ("read the maps of another process", PROCESSES, lambda: read(P + "maps")),
    ("read the words another process was started with", PROCESSES, lambda: read(P + "cmdline")),
    ("change another process's limits", PROCESSES, lambda: resource.prlimit(parent, resource.RLIMIT_NOFILE)),
    ("change another process's processors", PROCESSES, lambda: os.sched_setaffinity(parent, os.sched_getaffinity(parent))),
    ("change another process's priority", PROCESSES, lambda: os.setpriority(os.PRIO_PROCESS, parent, os.getpriority(os.PRIO_PROCESS, parent))),
    ("move another process's pages", PROCESSES, lambda: reaches("move_pages", parent, 0, 0, 0, 0, 0)),
    ("advise on another process's memory", PROCESSES, lambda: reaches("process_madvise", -1, 0, 0, 0, 0)),
    ("leave the session, so that its end is not ours", PROCESSES, leaves_group),
    ("fork", PROCESSES, forks),
    ("fork by the call that filters cannot read", PROCESSES, lambda: reaches("clone3", 0, 0)),
    ("start a shell", PROCESSES, lambda: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)),
    ("become another program", PROCESSES, lambda: execs()),
    ("become another program by a descriptor", PROCESSES, lambda: reaches("execveat", -1, 0, 0, 0, 0)),
    ("outlive its parent", PROCESSES, lambda: libc.prctl(1, 0, 0, 0, 0) == 0 or 1 / 0),
    ("take over orphans", PROCESSES, lambda: libc.prctl(36, 1, 0, 0, 0) == 0 or 1 / 0),
    ("a namespace of users", PRIVILEGES, lambda: call("unshare", 0x10000000)),
    ("a namespace of mounts", PRIVILEGES, lambda: call("unshare", 0x00020000)),
    ("enter a namespace", PRIVILEGES, lambda: reaches("setns", -1, 0)),
    ("a program in the kernel (bpf)", PRIVILEGES, lambda: reaches("bpf", 0, 0, 0)),
    ("counters of the processor", PRIVILEGES, lambda: reaches("perf_event_open", 0, 0, -1, -1, 0)),
    ("handle page faults of the kernel", PRIVILEGES, lambda: reaches("userfaultfd", 0)),
    ("the kernel's keys", PRIVILEGES, lambda: reaches("keyctl", 0, 0, 0, 0, 0)),
    ("a key in the kernel", PRIVILEGES, lambda: reaches("add_key", 0, 0, 0, 0, 0)),
    ("the kernel's messages", PRIVILEGES, lambda: call("syslog", 10, 0, 0)),
    ("set the clock", PRIVILEGES, lambda: reaches("clock_settime", 0, 0)),
    ("turn the clock faster", PRIVILEGES, lambda: reaches("adjtimex", 0)),
    ("name the machine", PRIVILEGES, lambda: reaches("sethostname", 0, 65)),
    ("load a kernel module", PRIVILEGES, lambda: reaches("init_module", 0, 0, 0)),
    ("load another kernel", PRIVILEGES, lambda: reaches("kexec_load", 0, 17, 0, 0xFFFF)),
    ("restart the machine", PRIVILEGES, lambda: reaches("reboot", 0, 0, 0, 0)),
    ("change quotas", PRIVILEGES, lambda: reaches("quotactl", 0, 0, 0, 0)),
    ("turn accounting on", PRIVILEGES, lambda: reaches("acct", 1)),
    ("turn memory protection off (personality)", PRIVILEGES, lambda: call("personality", 0x0040000)),
    ("change its user", PRIVILEGES, lambda: call("setuid", os.getuid())),
    ("change its group", PRIVILEGES, lambda: call("setgid", os.getgid())),
    ("gain privileges", PRIVILEGES, lambda: reaches("capset", 0, 0)),
    ("the processor's segments", PRIVILEGES, lambda: reaches("modify_ldt", 0, 0, 0)),
    ("ports of devices", PRIVILEGES, lambda: reaches("iopl", 0)),
    ("the other numbering of calls (x32)", PRIVILEGES, x32),
    ("its parent's keys", KEYS, lambda: keys("/proc/%d/environ" % os.getppid())),
    ("its parent's memory", KEYS, lambda: read("/proc/%d/mem" % os.getppid())),
    ("its own keys", KEYS, lambda: keys("/proc/self/environ")),
    ("keys in the environment of this process", KEYS, lambda: [v for v in os.environ.values() if "sesame" in v][0]),
]


def main():
    succeeded = []
    for name, wall, attempt in TABLE:
        try:
            attempt()
            succeeded.append(name)
        except BaseException:
            pass
    print(json.dumps({"could": succeeded, "tried": [[name, wall] for name, wall, _ in TABLE]}))


if __name__ == "__main__":
    main()
