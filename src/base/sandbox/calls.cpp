// Landlock controls files, TCP and signals. Code can do harm through other system calls too:
// ptrace, mounts, sockets, chmod. A list of calls to refuse allows each harmful call that a new
// kernel adds, so this is a list of calls to allow. Some calls are allowed with certain arguments
// only. The cost: a new version of a library may use a call that is not in the list; it then gets
// EPERM and usually continues without. clone3 and openat2 get ENOSYS, which makes the C library use
// clone() and openat(), whose arguments a filter can read.
#include "sandbox/calls.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <span>

namespace kw::sandbox {
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
constexpr int kClone3 = 435, kCloseRange = 436, kOpenat2 = 437, kFaccessat2 = 439,
              kEpollPwait2 = 441, kFutexWaitv = 449, kMapShadowStack = 453, kFutexWake = 454,
              kFutexWait = 455, kFutexRequeue = 456, kMseal = 462;
// A value that is compared when the process starts.
constexpr unsigned kOwnNumber = 0;

constexpr int kBasicCalls[] = {
    // open descriptors
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_pwrite64,
    SYS_preadv,
    SYS_pwritev,
    SYS_preadv2,
    SYS_pwritev2,
    SYS_close,
    kCloseRange,
    SYS_lseek,
    SYS_fstat,
    SYS_fstatfs,
    SYS_dup,
    SYS_dup3,
    SYS_pipe2,
    SYS_fsync,
    SYS_fdatasync,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_fadvise64,
    SYS_readahead,
    SYS_flock,
    SYS_sendfile,
    SYS_splice,
    SYS_copy_file_range,
    SYS_getdents64,
    SYS_sync_file_range,
    // files by name: Landlock decides which
    SYS_newfstatat,
    SYS_statx,
    SYS_statfs,
    SYS_faccessat,
    kFaccessat2,
    SYS_readlinkat,
    SYS_getcwd,
    SYS_chdir,
    SYS_fchdir,
    SYS_mkdirat,
    SYS_unlinkat,
    SYS_renameat,
    SYS_renameat2,
    SYS_linkat,
    SYS_symlinkat,
    SYS_umask,
    // waiting for descriptors
    SYS_ppoll,
    SYS_pselect6,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    kEpollPwait2,
    SYS_eventfd2,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_timerfd_gettime,
    SYS_signalfd4,
    // memory
    SYS_brk,
    SYS_mprotect,
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_msync,
    SYS_mincore,
    SYS_mlock,
    SYS_mlock2,
    SYS_munlock,
    SYS_mlockall,
    SYS_munlockall,
    SYS_mbind,
    SYS_get_mempolicy,
    SYS_set_mempolicy,
    SYS_pkey_alloc,
    SYS_pkey_free,
    SYS_pkey_mprotect,
    SYS_membarrier,
    kMapShadowStack,
    kMseal,
    // its own signals
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigpending,
    SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait,
    SYS_sigaltstack,
    SYS_restart_syscall,
    // threads
    SYS_futex,
    kFutexWaitv,
    kFutexWake,
    kFutexWait,
    kFutexRequeue,
    SYS_set_robust_list,
    SYS_get_robust_list,
    SYS_set_tid_address,
    SYS_rseq,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_sched_getattr,
    SYS_sched_get_priority_max,
    SYS_sched_get_priority_min,
    SYS_getpriority,
    SYS_getcpu,
    // its end
    SYS_exit,
    SYS_exit_group,
    // facts about itself and the machine
    SYS_getpid,
    SYS_getppid,
    SYS_gettid,
    SYS_getpgid,
    SYS_getsid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getresuid,
    SYS_getresgid,
    SYS_getgroups,
    SYS_capget,
    SYS_getrusage,
    SYS_getrlimit,
    SYS_setrlimit,
    SYS_times,
    SYS_uname,
    SYS_sysinfo,
    SYS_getrandom,
    // time
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_getitimer,
    SYS_setitimer,
    SYS_timer_create,
    SYS_timer_settime,
    SYS_timer_gettime,
    SYS_timer_getoverrun,
    SYS_timer_delete,
    // sockets that are open already: the channel to its parent
    SYS_recvmsg,
    SYS_recvfrom,
    SYS_shutdown,
    SYS_getsockopt,
    SYS_getsockname,
    SYS_getpeername,
#if defined(__x86_64__)  // older forms of the calls above
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_dup2,
    SYS_pipe,
    SYS_poll,
    SYS_select,
    SYS_epoll_create,
    SYS_epoll_wait,
    SYS_eventfd,
    SYS_signalfd,
    SYS_getdents,
    SYS_mkdir,
    SYS_rmdir,
    SYS_unlink,
    SYS_rename,
    SYS_link,
    SYS_symlink,
    SYS_creat,
    SYS_getpgrp,
    SYS_time,
    SYS_alarm,
    SYS_pause,
    SYS_arch_prctl,
#endif
};
constexpr int kProcessCalls[] = {
    SYS_wait4,
    SYS_waitid,
#if defined(__x86_64__)
    SYS_fork,
    SYS_vfork,
#endif
};
constexpr int kProgramCalls[] = {SYS_execve};
constexpr int kSocketCalls[] = {SYS_bind, SYS_listen, SYS_setsockopt};
constexpr int kSharedMemoryCalls[] = {SYS_memfd_create};
constexpr int kSignalCalls[] = {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo};

/// Answered without effect.
struct Answer {
  int call, error;
};
constexpr Answer kAnswers[] = {
    {kClone3, ENOSYS},
    {kOpenat2, ENOSYS},
    {SYS_setsid, 0},
    {SYS_setpgid, 0},
    // As on a file system without attributes: Python copies files and believes this.
    {SYS_getxattr, ENOTSUP},
    {SYS_lgetxattr, ENOTSUP},
    {SYS_fgetxattr, ENOTSUP},
    {SYS_listxattr, ENOTSUP},
    {SYS_llistxattr, ENOTSUP},
    {SYS_flistxattr, ENOTSUP},
};

/// One argument: the low half of it, masked, is this value; or the process's own number.
struct Argument {
  unsigned which = 0, mask = 0, value = 0;
  bool own_number = false;
};
/// A call with these arguments passes, or is refused. The first case that applies decides.
struct Case {
  bool passes;
  Argument first;
  Argument second = {};  // a mask of 0: there is none
};
struct Rule {
  int call;
  bool otherwise;  // whether it passes when no case applies
  std::vector<Case> cases;
};

constexpr unsigned kWhole = ~0U;
constexpr unsigned kNamespaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                 CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;
constexpr unsigned kThread = CLONE_THREAD | CLONE_VM;
// Only local sockets that need a connection, and connecting is refused. Networks are refused.
// Datagrams are refused because they could reach any socket of the user.
constexpr Argument kLocal{0, kWhole, AF_UNIX};
constexpr Argument kConnected{1, 0xb, SOCK_STREAM};  // or SOCK_SEQPACKET, without the flags
static_assert((SOCK_SEQPACKET & 0xb) == SOCK_STREAM && (SOCK_DGRAM & 0xb) != SOCK_STREAM);
constexpr Argument kItself{0, kWhole, 0};  // a process; 0 is the caller
constexpr Argument kByNumber{0, kWhole, kOwnNumber, true};
// Who opens a file for reading and empties it needs no right to write in older Landlocks.
constexpr unsigned kMode = O_ACCMODE | O_TRUNC;
constexpr unsigned kUnnamed = MAP_SHARED | MAP_ANONYMOUS;

std::vector<Case> passing(unsigned which, std::initializer_list<unsigned> values) {
  std::vector<Case> cases;
  for (const unsigned value : values) cases.push_back({true, {which, kWhole, value}});
  return cases;
}
std::vector<Case> refusing(unsigned which, std::initializer_list<unsigned> values) {
  std::vector<Case> cases = passing(which, values);
  for (Case& one : cases) one.passes = false;
  return cases;
}

/// Rules that hold for every kind.
std::vector<Rule> common_rules() {
  const std::vector<Case> itself = {{true, kItself}, {true, kByNumber}};
  return {
    {SYS_socketpair, false, {{true, kLocal, kConnected}}},
        // Without an address, so over a connection.
        {SYS_sendto, false, {{true, {4, kWhole, 0}}}},
        // A signal when a descriptor is ready would reach any process; a lease stops other
        // programs.
        {SYS_fcntl, true, refusing(1, {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY})},
        {SYS_prctl, false,
         passing(0, {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_SET_DUMPABLE, PR_CAPBSET_READ,
                     PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_SET_SECCOMP, PR_GET_SECCOMP,
                     PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, PR_SET_THP_DISABLE, PR_GET_THP_DISABLE,
                     PR_SET_TSC, PR_GET_TSC, PR_GET_PDEATHSIG, PR_SET_VMA})},
        {SYS_openat, true, {{false, {2, kMode, O_TRUNC}}}},
#if defined(__x86_64__)
        {SYS_open, true, {{false, {1, kMode, O_TRUNC}}}},
#endif
        {SYS_prlimit64, false, itself}, {SYS_sched_setaffinity, false, itself},
        {SYS_sched_setscheduler, false, itself}, {SYS_sched_setparam, false, itself},
        {SYS_sched_setattr, false, itself},
        {SYS_setpriority, false, {{true, {0, kWhole, PRIO_PROCESS}, {1, kWhole, 0}}}},
        {SYS_ioprio_set, false, {{true, {0, kWhole, 1}, {1, kWhole, 0}}}},  // 1: of a process
  };
}

/// Rules that differ between kinds.
std::vector<Rule> rules_for(unsigned calls, Signals signals) {
  std::vector<Rule> rules = common_rules();
  if ((calls & kProcesses) != 0) {
    rules.push_back({SYS_clone, false, {{true, {0, kNamespaces, 0}}}});
    // Orphans of what it started become its children, so that it can tell whether any is left.
    for (Rule& rule : rules) {
      if (rule.call == SYS_prctl) rule.cases.push_back({true, {0, kWhole, PR_SET_CHILD_SUBREAPER}});
    }
  } else if ((calls & kThreads) != 0)
    rules.push_back({SYS_clone, false, {{true, {0, kThread | kNamespaces, kThread}}}});
  // Memory shared between processes counts for no limit of one process.
  if ((calls & kSharedMemory) != 0)
    rules.push_back({SYS_mmap, true, {}});
  else
    rules.push_back({SYS_mmap, true, {{false, {3, kUnnamed, kUnnamed}}}});
  if ((calls & kLocalSockets) != 0)
    rules.push_back({SYS_socket, false, {{true, kLocal, kConnected}}});
  // Any descriptor can change the flags of its file; a terminal takes words as if they were typed.
  if ((calls & kDevices) != 0)
    rules.push_back({SYS_ioctl, true,
                     refusing(1, {FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FIFREEZE, FITHAW, TIOCSTI,
                                  TIOCLINUX, TIOCCONS, TIOCSCTTY, FIOASYNC, 0x8901 /* FIOSETOWN */,
                                  0x8902 /* SIOCSPGRP */})});
  else
    rules.push_back(
        {SYS_ioctl, false, passing(1, {TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX})});
  // Where Landlock keeps signals inside, the children of a compiler may send them to each other.
  const bool free = signals == Signals::Scoped && (calls & kProcesses) != 0;
  for (const int call : kSignalCalls) {
    if (free)
      rules.push_back({call, true, {}});
    else
      rules.push_back({call, false, {{true, kByNumber}, {true, kItself}}});
  }
  return rules;
}

constexpr sock_filter step(unsigned code, unsigned value) {
  return {static_cast<unsigned short>(code), 0, 0, value};
}
constexpr sock_filter jump(unsigned code, unsigned value, size_t yes, size_t no) {
  return {static_cast<unsigned short>(code), static_cast<unsigned char>(yes),
          static_cast<unsigned char>(no), value};
}
constexpr sock_filter load(size_t offset) {
  return step(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
}
constexpr sock_filter give(unsigned action, int error = 0) {
  return step(BPF_RET | BPF_K, action | static_cast<unsigned>(error));
}
constexpr unsigned kEqual = BPF_JMP | BPF_JEQ | BPF_K;
constexpr sock_filter kPass = give(SECCOMP_RET_ALLOW), kRefuse = give(SECCOMP_RET_ERRNO, EPERM);

class Builder {
 public:
  Builder() {
    add(load(offsetof(seccomp_data, arch)));
    add(jump(kEqual, kArchitecture, 1, 0));
    add(give(SECCOMP_RET_KILL_PROCESS));
    load_call();
#if defined(__x86_64__)
    add(jump(BPF_JMP | BPF_JGE | BPF_K, 0x40000000U, 0, 1));  // the x32 numbering
    add(give(SECCOMP_RET_KILL_PROCESS));
#endif
  }

  void allow(std::span<const int> calls) {
    for (const int call : calls) {
      add(jump(kEqual, static_cast<unsigned>(call), 0, 1));
      add(kPass);
    }
  }

  void answer(const Answer& one) {
    add(jump(kEqual, static_cast<unsigned>(one.call), 0, 1));
    add(give(SECCOMP_RET_ERRNO, one.error));
  }

  void rule(const Rule& rule) {
    size_t length = 1;
    for (const Case& one : rule.cases) length += length_of(one);
    add(jump(kEqual, static_cast<unsigned>(rule.call), 0, length));
    for (const Case& one : rule.cases) decide(one);
    add(rule.otherwise ? kPass : kRefuse);
  }

  /// The execve() by which the program itself starts, and no other.
  void own_start() {
    constexpr size_t kHalves = 6;
    add(jump(kEqual, SYS_execve, 0, 2 * kHalves + 2));
    for (size_t half = 0; half < kHalves; ++half) {
      add(load(offsetof(seccomp_data, args) + 4 * half));
      filter_.start_addresses.push_back(filter_.steps.size());
      add(jump(kEqual, 0, 0, 2 * (kHalves - 1 - half) + 1));
    }
    add(kPass);
    add(kRefuse);
  }

  os::CallFilter take() {
    add(kRefuse);
    return std::move(filter_);
  }

 private:
  static constexpr size_t kSteps = 3;  // of one argument

  static size_t length_of(const Case& one) { return kSteps * (one.second.mask != 0 ? 2 : 1) + 1; }

  void add(sock_filter one) { filter_.steps.push_back(one); }
  void load_call() { add(load(offsetof(seccomp_data, nr))); }

  /// Passes or refuses, or continues with the next case.
  void decide(const Case& one) {
    size_t left = length_of(one);
    for (const Argument& argument : {one.first, one.second}) {
      if (argument.mask == 0) continue;
      left -= kSteps;
      add(load(offsetof(seccomp_data, args) + 8 * argument.which));
      add(step(BPF_ALU | BPF_AND | BPF_K, argument.mask));
      if (argument.own_number) filter_.own_number.push_back(filter_.steps.size());
      add(jump(kEqual, argument.value, 0, left));
    }
    add(one.passes ? kPass : kRefuse);
  }

  os::CallFilter filter_;
};

}  // namespace

os::CallFilter call_filter(unsigned calls, Signals signals) {
  if (kArchitecture == 0) return {};
  Builder builder;
  builder.allow(kBasicCalls);
  if ((calls & kProcesses) != 0) builder.allow(kProcessCalls);
  if ((calls & kPrograms) != 0)
    builder.allow(kProgramCalls);
  else
    builder.own_start();
  if ((calls & kLocalSockets) != 0) builder.allow(kSocketCalls);
  if ((calls & kSharedMemory) != 0) builder.allow(kSharedMemoryCalls);
  for (const Answer& one : kAnswers) builder.answer(one);
  for (const Rule& rule : rules_for(calls, signals)) builder.rule(rule);
  // A message can name its receiver only on sockets that need no connection; there are none.
  builder.allow(std::to_array<int>({SYS_sendmsg}));
  return builder.take();
}

bool has_call_filter() {
  // Given no filter program, a Linux kernel that supports filters fails with EFAULT.
  return kArchitecture != 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr) != 0 &&
         errno == EFAULT;
}

}  // namespace kw::sandbox
