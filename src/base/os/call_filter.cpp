// Landlock controls files, TCP and signals. A candidate can do harm through other system calls too:
// ptrace, mounts, sockets, chmod. This source builds a seccomp program that refuses those calls. It
// lists the calls to refuse and allows the rest. A list of the calls to allow would be stricter,
// but the CUDA driver and Python use calls that change with their versions. Refused calls fail with
// EPERM instead of killing the process, so that libraries can continue without them. The cost: a
// harmful call that a new kernel adds is allowed until this list names it.
#include "os/call_filter.h"

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace kw::os {
namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned kArchitecture = 0;
#endif

// The headers at build time may not define these calls. Their numbers are the same on every
// architecture.
constexpr int kIoUringSetup = 425, kClone3 = 435, kPidfdGetfd = 438, kFchmodat2 = 452,
              kSetxattrat = 463, kRemovexattrat = 466, kFileSetattr = 469;

constexpr int kRefused[] = {
    // sockets of other programs; the channel to the parent is already open
    SYS_connect,
    SYS_accept,
    SYS_accept4,
    // objects that outlive the process and that the next process could find
    SYS_shmget,
    SYS_msgget,
    SYS_semget,
    // access to other processes
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_perf_event_open,
    kPidfdGetfd,
    // namespaces, mounts, the Linux kernel itself
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_bpf,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_userfaultfd,
    SYS_kexec_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_open_by_handle_at,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_sethostname,
    kIoUringSetup,
    // not covered by Landlock: owner, mode and attributes of any file of the user
    SYS_fchmod,
    SYS_fchmodat,
    kFchmodat2,
    SYS_fchown,
    SYS_fchownat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    kSetxattrat,
    kRemovexattrat,
    kFileSetattr,
    SYS_utimensat,
#ifdef SYS_chmod  // architectures that also have the older calls
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
#endif
};
constexpr int kSeemingly[] = {SYS_setsid, SYS_setpgid};

constexpr unsigned kNamespaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                 CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;

constexpr sock_filter step(unsigned code, unsigned value) {
  return {static_cast<unsigned short>(code), 0, 0, value};
}
constexpr sock_filter jump(unsigned code, unsigned value, unsigned char yes, unsigned char no) {
  return {static_cast<unsigned short>(code), yes, no, value};
}
constexpr sock_filter load(size_t offset) {
  return step(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
}
constexpr sock_filter give(unsigned action, int error = 0) {
  return step(BPF_RET | BPF_K, action | static_cast<unsigned>(error));
}

std::vector<sock_filter> make_filter() {
  if (kArchitecture == 0) return {};
  constexpr unsigned kEqual = BPF_JMP | BPF_JEQ | BPF_K, kAnyBit = BPF_JMP | BPF_JSET | BPF_K;
  constexpr size_t kNumber = offsetof(seccomp_data, nr);
  constexpr size_t kFirst = offsetof(seccomp_data, args);  // its low half (little endian)
  constexpr size_t kSecond = kFirst + sizeof(seccomp_data::args[0]);
  constexpr unsigned kSocketKind = 0xf;  // mask that removes the descriptor flags
  std::vector<sock_filter> filter = {
    load(offsetof(seccomp_data, arch)),
    jump(kEqual, kArchitecture, 1, 0),
    give(SECCOMP_RET_KILL_PROCESS),
    load(kNumber),
#if defined(__x86_64__)
    jump(BPF_JMP | BPF_JGE | BPF_K, 0x40000000U, 0, 1),  // the x32 numbering of the same calls
    give(SECCOMP_RET_KILL_PROCESS),
#endif
    // ENOSYS makes the C library use the older clone(), whose flags a filter can read.
    jump(kEqual, kClone3, 0, 1),
    give(SECCOMP_RET_ERRNO, ENOSYS),
    jump(kEqual, SYS_clone, 0, 4),
    load(kFirst),
    jump(kAnyBit, kNamespaces, 0, 1),
    give(SECCOMP_RET_ERRNO, EPERM),
    give(SECCOMP_RET_ALLOW),
    // Only local sockets that need a connection, and connecting is refused. Networks are refused.
    // Datagrams are refused because they could reach any socket of the user. The CUDA driver
    // listens on a local socket of its own.
    jump(kEqual, SYS_socket, 1, 0),
    jump(kEqual, SYS_socketpair, 0, 8),
    load(kFirst),
    jump(kEqual, AF_UNIX, 0, 4),
    load(kSecond),
    step(BPF_ALU | BPF_AND | BPF_K, kSocketKind),
    jump(kEqual, SOCK_STREAM, 2, 0),
    jump(kEqual, SOCK_SEQPACKET, 1, 0),
    give(SECCOMP_RET_ERRNO, EPERM),
    give(SECCOMP_RET_ALLOW),
    // Any descriptor can change the flags of its file.
    jump(kEqual, SYS_ioctl, 0, 5),
    load(kSecond),
    jump(kEqual, FS_IOC_SETFLAGS, 1, 0),
    jump(kEqual, FS_IOC_FSSETXATTR, 0, 1),
    give(SECCOMP_RET_ERRNO, EPERM),
    give(SECCOMP_RET_ALLOW),
    // A process may change only its own limits.
    jump(kEqual, SYS_prlimit64, 0, 4),
    load(kFirst),
    jump(kEqual, 0, 1, 0),
    give(SECCOMP_RET_ERRNO, EPERM),
    give(SECCOMP_RET_ALLOW),
  };
  const auto answer = [&](int call, int error) {
    filter.push_back(jump(kEqual, static_cast<unsigned>(call), 0, 1));
    filter.push_back(give(SECCOMP_RET_ERRNO, error));
  };
  for (const int call : kRefused) answer(call, EPERM);
  for (const int call : kSeemingly) answer(call, 0);
  filter.push_back(give(SECCOMP_RET_ALLOW));
  return filter;
}

}  // namespace

const std::vector<sock_filter>& call_filter() {
  static const std::vector<sock_filter> kFilter = make_filter();
  return kFilter;
}

void drop_privileges() {
  // The bounding set comes first: a program started later cannot regain what is not in it.
  for (unsigned long one = 0; one < 64; ++one) ::prctl(PR_CAPBSET_DROP, one, 0, 0, 0);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  ::syscall(SYS_capset, &header, none);
}

bool enter_call_filter(const std::vector<sock_filter>& filter) {
  const sock_fprog program{static_cast<unsigned short>(filter.size()),
                           const_cast<sock_filter*>(filter.data())};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool has_call_filter() {
  // Given no filter program, a Linux kernel that supports filters fails with EFAULT.
  return !call_filter().empty() && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr) != 0 &&
         errno == EFAULT;
}

}  // namespace kw::os
