// Landlock controls files, TCP and signals. A candidate can do harm through other system calls too:
// ptrace, mounts, sockets, chmod. This source builds a seccomp program that refuses those calls. It
// lists the calls to refuse and allows the rest. A list of the calls to allow would be stricter,
// but the CUDA driver and Python use calls that change with their versions. Refused calls fail with
// EPERM instead of killing the process, so that libraries can continue without them. The cost: a
// harmful call that a new kernel adds is allowed until this list names it.
#include "os/call_filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <optional>

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
constexpr int kPidfdSendSignal = 424, kIoUringSetup = 425, kPidfdOpen = 434, kClone3 = 435,
              kOpenat2 = 437, kPidfdGetfd = 438, kProcessMadvise = 440, kFchmodat2 = 452,
              kSetxattrat = 463, kRemovexattrat = 466, kFileSetattr = 469;

constexpr int kRefused[] = {
    // sockets of other programs; the channel to the parent is already open
    SYS_connect,
    SYS_accept,
    SYS_accept4,
    // objects that outlive the process, and those of the user's other processes
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_msgget,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_msgctl,
    SYS_semget,
    SYS_semop,
    SYS_semtimedop,
    SYS_semctl,
    SYS_mq_open,
    SYS_mq_unlink,
    // access to other processes
    SYS_ptrace,
    SYS_kcmp,
    SYS_migrate_pages,
    SYS_move_pages,
    kPidfdOpen,
    kPidfdSendSignal,
    kProcessMadvise,
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
    // older versions of Landlock do not know of it
    SYS_truncate,
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

/// A call whose arguments decide: the low halves of these arguments, masked, are these values.
struct Argument {
  unsigned which, mask, value;
};
struct Rule {
  int call;
  bool allows;  // only with these arguments; else it is refused with them
  Argument first;
  std::optional<Argument> second = {};
};
constexpr unsigned kWhole = ~0U;
constexpr unsigned kNamespaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                 CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;
// Only local sockets that need a connection, and connecting is refused. Networks are refused.
// Datagrams are refused because they could reach any socket of the user. The CUDA driver listens on
// a local socket of its own.
constexpr Argument kLocal{0, kWhole, AF_UNIX};
constexpr Argument kConnected{1, 0xb, SOCK_STREAM};  // or SOCK_SEQPACKET, without the flags
static_assert((SOCK_SEQPACKET & 0xb) == SOCK_STREAM && (SOCK_DGRAM & 0xb) != SOCK_STREAM);
constexpr Argument kItself{0, kWhole, 0};  // a process; 0 is the caller
// Who opens a file for reading and empties it needs no right to write in older Landlocks.
constexpr unsigned kMode = O_ACCMODE | O_TRUNC;

constexpr Rule kRules[] = {
    {SYS_clone, true, {0, kNamespaces, 0}},
    {SYS_socket, true, kLocal, kConnected},
    {SYS_socketpair, true, kLocal, kConnected},
    // Any descriptor can change the flags of its file.
    {SYS_ioctl, false, {1, kWhole, FS_IOC_SETFLAGS}},
    {SYS_ioctl, false, {1, kWhole, FS_IOC_FSSETXATTR}},
    // When our program ends, so must this one.
    {SYS_prctl, false, {0, kWhole, PR_SET_PDEATHSIG}},
    {SYS_openat, false, {2, kMode, O_TRUNC}},
#ifdef SYS_open
    {SYS_open, false, {1, kMode, O_TRUNC}},
#endif
    {SYS_prlimit64, true, kItself},
    {SYS_sched_setaffinity, true, kItself},
    {SYS_sched_setscheduler, true, kItself},
    {SYS_sched_setparam, true, kItself},
    {SYS_sched_setattr, true, kItself},
    {SYS_setpriority, true, {0, kWhole, PRIO_PROCESS}, Argument{1, kWhole, 0}},
    {SYS_ioprio_set, true, {0, kWhole, 1}, Argument{1, kWhole, 0}},  // 1: of a process
};

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
constexpr unsigned kEqual = BPF_JMP | BPF_JEQ | BPF_K;

/// Refuses the call, or continues with what follows.
void add(const Rule& rule, std::vector<sock_filter>* filter) {
  constexpr size_t kSteps = 3;  // for one argument
  std::vector<Argument> arguments = {rule.first};
  if (rule.second) arguments.push_back(*rule.second);
  // What comes last: for a rule that allows, "continue" and then "refuse"; else only "refuse".
  const size_t end = rule.allows ? 2 : 1;
  size_t left = kSteps * arguments.size();
  filter->push_back(load(offsetof(seccomp_data, nr)));
  filter->push_back(
      jump(kEqual, static_cast<unsigned>(rule.call), 0, static_cast<unsigned char>(left + end)));
  for (const Argument& one : arguments) {
    left -= kSteps;
    filter->push_back(load(offsetof(seccomp_data, args) + 8 * one.which));
    filter->push_back(step(BPF_ALU | BPF_AND | BPF_K, one.mask));
    filter->push_back(jump(kEqual, one.value, 0, static_cast<unsigned char>(left + 1)));
  }
  if (rule.allows) filter->push_back(step(BPF_JMP | BPF_JA, 1));
  filter->push_back(give(SECCOMP_RET_ERRNO, EPERM));
}

std::vector<sock_filter> make_filter() {
  if (kArchitecture == 0) return {};
  std::vector<sock_filter> filter = {
    load(offsetof(seccomp_data, arch)),
    jump(kEqual, kArchitecture, 1, 0),
    give(SECCOMP_RET_KILL_PROCESS),
    load(offsetof(seccomp_data, nr)),
#if defined(__x86_64__)
    jump(BPF_JMP | BPF_JGE | BPF_K, 0x40000000U, 0, 1),  // the x32 numbering of the same calls
    give(SECCOMP_RET_KILL_PROCESS),
#endif
  };
  const auto answer = [&](int call, int error) {
    filter.push_back(jump(kEqual, static_cast<unsigned>(call), 0, 1));
    filter.push_back(give(SECCOMP_RET_ERRNO, error));
  };
  // ENOSYS makes the C library use clone() and openat(), whose flags a filter can read.
  for (const int call : {kClone3, kOpenat2}) answer(call, ENOSYS);
  for (const int call : kRefused) answer(call, EPERM);
  for (const int call : kSeemingly) answer(call, 0);
  for (const Rule& rule : kRules) add(rule, &filter);
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
