"""References that PyTorch must execute do it behind walls: no files, no network, no other processes, no keys; nothing is left behind."""
import json
import os
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from harness import Harness, skip  # noqa: E402
from processes import PATIENCE, gone, marked  # noqa: E402

h = Harness(sys.argv[1], own_cache=True)
h.environment["TMPDIR"] = h.path("temporary")
h.environment["XDG_DATA_HOME"] = h.path("data")
os.makedirs(h.path("temporary"))
torch = json.loads(h.run("doctor", "--json").stdout)["tools"]
walls = torch["walls"]["state"] == "found"
LATE = "KW_WALLS_%d" % os.getpid()

# Executed because our own reader does not know bessel_j0; what it could do goes out in the error's text.
HOSTILE = '''
import os, resource, signal, socket, subprocess, sys, torch
SECRET, PLAIN, MARK, SOCKET = %r, %r, %r, %r
DONE = []
def attempt(name, action):
    try:
        result = action()
        DONE.append(name)
        return result
    except BaseException:
        return None
def accepts():
    own = socket.socket(socket.AF_UNIX)
    own.bind("\\0kernelwright%%d" %% os.getpid())
    own.listen(1)
    own.settimeout(0)
    try:
        own.accept()
    except BlockingIOError:
        return True
def parent_of(pid):
    return int(open("/proc/%%d/status" %% pid).read().split("PPid:")[1].split()[0])
template = os.getppid()
parent = parent_of(parent_of(template))
assert b"kernelwright" in open("/proc/%%d/cmdline" %% parent, "rb").read().split(b"\\0")[0]
attempt("keys", lambda: "sesame" in open("/proc/%%d/environ" %% parent).read() or 1 / 0)
attempt("own_keys", lambda: [v for v in os.environ.values() if "sesame" in v][0])
attempt("memory", lambda: open("/proc/%%d/mem" %% parent, "rb"))
attempt("template", lambda: open("/proc/%%d/mem" %% template, "rb"))
attempt("reads", lambda: open(SECRET).read())
attempt("lists", lambda: os.listdir(os.path.dirname(SECRET)))
attempt("writes", lambda: open(PLAIN, "w"))
attempt("removes", lambda: os.remove(SECRET))
attempt("chmod", lambda: os.chmod(SECRET, 0o4777))
attempt("chown", lambda: os.chown(SECRET, os.getuid(), os.getgid()))
attempt("xattr", lambda: os.setxattr(SECRET, "user.x", b"1"))
attempt("tcp", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("unix", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect(SOCKET))
attempt("unix datagram", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", SOCKET))
attempt("unix stream", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).sendto(b"x", SOCKET))
attempt("unix packets", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).sendto(b"x", SOCKET))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt("datagrams", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
attempt("accepts", accepts)
attempt("times", lambda: os.utime(__import__("torch").__file__))
attempt("flags", lambda: __import__("fcntl").ioctl(os.open("/usr", os.O_RDONLY), 0x40086602, b"\\0" * 8))
libc = __import__("ctypes").CDLL(None)
attempt("shared memory", lambda: 1 / (libc.shmget(0, 4096, 0o1600) + 1))
attempt("signals", lambda: os.kill(parent, 0))
attempt("limits", lambda: resource.prlimit(parent, resource.RLIMIT_NOFILE))
attempt("namespace", lambda: os.unshare(0x10000000) if hasattr(os, "unshare") else 1 / 0)
attempt("shell", lambda: subprocess.run(["cat", SECRET], check=True, capture_output=True))
attempt("temporary", lambda: open(os.path.join(os.environ["TMPDIR"], "mine"), "w").write("x"))
def daemon():               # it would outlive us
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in range(3):
                os.close(fd)
            os.execvp("sleep", ["sleep", "600.%%s" %% MARK])
        os._exit(0)
attempt("forks", daemon)

def reference(x: "fp32[B, D]"):
    torch.special.bessel_j0(x)
    raise ValueError("could: " + " ".join(DONE))
'''


def sleepers():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                if b"600." + str(os.getpid()).encode() in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


os.makedirs(h.path("private"))
secret = h.write("private/secret", "do not read")
plain = h.path("written")
listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listening.bind(h.path("socket"))
listening.listen(8)
hostile = h.write("hostile.py", HOSTILE % (secret, plain, os.getpid(), listening.getsockname()))
KEYS = {"OPENAI_API_KEY": "sesame-1", "HF_TOKEN": "sesame-2", "AWS_SECRET_ACCESS_KEY": "sesame-3", "DATABASE_URL": "postgres://me:sesame@x"}
done = h.run("describe", hostile, env=KEYS)
if "install torch" in done.stderr:
    h.finish() if h.failures else skip("no Python with torch")
could = done.stderr.split("could: ")[-1].split("\n")[0].split() if "could: " in done.stderr else []
h.check("could: " in done.stderr, "the reference was executed", done)
h.check(done.stderr.count("PyTorch executes") == 1, "the user is told once per file", done)
if walls:
    h.check(set(could) <= {"temporary"}, "behind all walls it could do: %s" % could, done)
    h.check("in a confined process" in done.stderr, "and told that it is confined", done)
else:
    h.check("cannot confine it" in done.stderr, "missing walls are named", done)
h.check("temporary" in could, "it has a folder of its own", done)
h.check(open(secret).read() == "do not read" and not os.path.exists(plain), "files are as they were")
end = time.time() + PATIENCE
while sleepers() and time.time() < end:
    time.sleep(0.02)
h.check(not sleepers(), "no process is left behind: %s" % sleepers())
left = [name for name in os.listdir(h.path("temporary")) if name.startswith("kernelwright-torch-")]
h.check(not left, "no folder is left behind: %s" % left)

# --- told once per content, also by later commands ---
PLAIN = 'import torch\n\ndef reference(x: "fp32[N]"):\n    return torch.special.bessel_j0(x) + %d\n'
NOTICE = "PyTorch executes"
os.makedirs(h.path("told/imports"))
for name, text in (("one.py", PLAIN % 1), ("copy.py", PLAIN % 1), ("imports/helper.py", "ONE = 1\n"), ("imports/ref.py", "from helper import ONE\n" + PLAIN % 3)):
    h.write("told/" + name, text)


def notices(*more, env=None):
    done = h.run("screen", h.path("told"), "--allow-python", *more, env=env)
    h.check(done.returncode == 0, "screen", done)
    return done.stderr.count(NOTICE) if not more else done.stderr


h.check(notices("--json") == "", "a document is not disturbed")
h.check(notices() == 2, "documents tell nobody; the same content is told once, whatever its name")
h.write("told/one.py", PLAIN % 2)
h.write("told/imports/helper.py", "ONE = 2\n")
h.check(notices() == 2, "a changed file is told again, and one whose import has changed; the third is known from the command before")
h.check(notices(env={"XDG_DATA_HOME": "/dev/null/x"}) == 3, "where nothing can be remembered all are told")

# --- every reference begins afresh: what one does to its process does not reach the next ---
SPOILS = """
import atexit, builtins, os, random, sys, threading, time, types, warnings, torch
torch.sin = torch.cos
torch.set_default_dtype(torch.float64)
torch.manual_seed(7)
torch.set_num_threads(1)
torch.Tensor.add = None
builtins.len = lambda x: 3
builtins.__import__, IMPORT = (lambda *a, **k: IMPORT(*a, **k)), builtins.__import__
sys.modules["helper_of_a"] = types.ModuleType("helper_of_a")
sys.path.insert(0, os.environ["TMPDIR"])
sys.setrecursionlimit(77777)
sys.addaudithook(lambda *a: None)
os.environ["FROM_A"] = "1"
os.umask(0o777)
os.chdir("/")
os.nice(3)
random.seed(5)
atexit.register(print, "left")
KEPT = os.open("/dev/null", os.O_RDONLY)
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
open(os.path.join(os.environ["TMPDIR"], "from_a"), "w").write("x")
os.makedirs(os.path.join(os.environ["TMPDIR"], "inductor", "deep"))
import fcntl
for fd in (1, 2):
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK)
"""
LOOKS = """
import builtins, fcntl, os, random, sys, threading, torch
SAW = []
def look(name, bad):
    try:
        bad = bad()
    except BaseException as error:
        bad = error
    if bad:
        SAW.append("%%s(%%s)" %% (name, bad))
x = torch.tensor([1.0])
look("patched torch", lambda: torch.sin is torch.cos or abs(float(torch.sin(x)) - 0.841471) > 1e-5)
look("method", lambda: torch.Tensor.add is None)
look("dtype", lambda: torch.get_default_dtype() != torch.float32)
look("seed", lambda: torch.initial_seed() == 7)
look("builtins", lambda: len([1]) != 1 or "lambda" in repr(builtins.__import__))
look("modules", lambda: "helper_of_a" in sys.modules)
look("path", lambda: os.environ["TMPDIR"] in sys.path)
look("recursion", lambda: sys.getrecursionlimit() == 77777)
look("environment", lambda: "FROM_A" in os.environ)
look("umask", lambda: os.umask(0o77) == 0o777)
look("niceness", lambda: os.nice(0) > %d)
look("threads", lambda: threading.active_count() > 1)
look("descriptors", lambda: [fd for fd in range(4, 600) if os.path.exists("/proc/self/fd/%%d" %% fd)][4:])
look("files", lambda: [one for one in os.listdir(os.environ["TMPDIR"]) if not one.startswith(".")])
look("blocking", lambda: [fd for fd in (1, 2) if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK])
look("processes", lambda: [pid for pid in os.listdir("/proc") if pid.isdigit() and b"left.by.a" in open("/proc/%%s/cmdline" %% pid, "rb").read()])
raise ValueError("saw: " + (" ".join(SAW) or "nothing"))
"""
STAYS = """
import os
if os.fork() == 0:
    if os.fork() == 0:
        for fd in range(3):
            os.close(fd)
        os.execvp("sleep", ["left.by.a", "600"])
    os._exit(0)
"""
TAIL = '\ndef reference(x: "fp32[N]"):\n    return torch.special.bessel_j0(x)\n'
os.makedirs(h.path("folder"))
BEFORE = (SPOILS, STAYS, "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n")
for number, first in enumerate(BEFORE):
    h.write("folder/a%d.py" % number, "import torch\n" + first + TAIL)
    h.write("folder/b%d.py" % number, LOOKS % os.nice(0) + TAIL)
screened = h.run("screen", h.path("folder"), "--json", "--allow-python")
files = {one["name"]: one for one in json.loads(screened.stdout)["files"]}
for number in range(len(BEFORE)):
    seen = files["b%d" % number]["detail"]
    h.check("saw: nothing" in seen, "after a%d: %s" % (number, seen[-300:]))

# --- what a reference imports from its folder still comes along, and only from there ---
os.makedirs(h.path("near/layers"))
h.write("near/layers/__init__.py", "from .inner import scale\n")
h.write("near/layers/inner.py", "def scale(x):\n    return x * 3\n")
h.write("near/helper.py", "import layers\nFACTOR = 2\n")
h.write("private/outside.py", "VALUE = 7\n")
os.symlink(h.path("private/outside.py"), h.path("near/linked.py"))
h.write("near/ref.py", '''import helper
import torch
from layers import scale

def reference(x: "fp32[N]"):
    return torch.special.bessel_j0(scale(x)) * helper.FACTOR + int("no")
''')
done = h.run("describe", h.path("near/ref.py"))
h.check("invalid literal for int" in done.stderr or "int()" in done.stderr, "its modules were found", done)
h.write("near/leaves.py", 'import linked\nimport torch\n\ndef reference(x: "fp32[N]"):\n    return torch.special.bessel_j0(x) * linked.VALUE\n')
done = h.run("describe", h.path("near/leaves.py"))
h.check("linked" in done.stderr and done.returncode == 2, "a link that leaves the folder is not followed", done)

# --- ours killed: the worker goes with it ---
slow = h.write("slow.py", 'import time, torch\n\ndef reference(x: "fp32[N]"):\n    time.sleep(600)\n    return torch.special.bessel_j0(x)\n')
process = subprocess.Popen([h.binary, "describe", slow], env=dict(h.environment, **{LATE: "1"}), cwd=h.folder,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
process.stderr.readline()
process.kill()
process.wait()
h.check(gone(LATE), "killed, it leaves no worker: %s" % marked(LATE))
h.finish()
