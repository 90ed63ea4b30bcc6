// The problem: a launcher computes numbers and calls the CUDA runtime; every other system call is a
// way out of the recording, or a look at the machine. The choice: a filter in the kernel with three
// lists. Calls that start, observe or contact something end the process. Calls about time and
// identity are answered by world.cpp. Calls about files are refused, once the library is loaded.
// The alternative, a list of what is allowed, ends honest programs with every new C library. The
// cost: a signal for each answered call, and x86-64 only.
#include "host_recording/recorder/confine.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <ctime>

#include <cstddef>
#include <iterator>
#include <vector>

#include "host_recording/recorder/control.h"
#include "host_recording/recorder/state.h"
#include "host_recording/recorder/world.h"

namespace kw::recorder {

#if defined(__x86_64__)
namespace {

constexpr unsigned kKillProcess = 0x80000000U;  // SECCOMP_RET_KILL_PROCESS
constexpr unsigned kSignal = 0x00030000U;       // SECCOMP_RET_TRAP

int process = 0, thread = 0;  // the real numbers

/// A program that ends itself by a signal names the made-up process.
int64_t signal_itself(uint64_t signal) { return ::syscall(SYS_tgkill, process, thread, signal); }

/// Prints the number of the forbidden call, then ends the process by the same signal. Even with
/// another handler installed, the call itself has no effect.
void end_by(const siginfo_t* info) {
  char text[] = "\nsystem call     \n";
  size_t at = sizeof(text) - 3;
  for (int number = info->si_syscall; number > 0 && text[at] == ' '; number /= 10)
    text[at--] = static_cast<char>('0' + number % 10);
  [[maybe_unused]] const ssize_t written = ::write(2, text, sizeof(text) - 1);
  ::signal(SIGSYS, SIG_DFL);
  signal_itself(SIGSYS);
}

/// Answers the call, or ends the process.
void on_call(int, siginfo_t* info, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const uint64_t arguments[] = {static_cast<uint64_t>(registers[REG_RDI]),
                                static_cast<uint64_t>(registers[REG_RSI]),
                                static_cast<uint64_t>(registers[REG_RDX])};
  int64_t result = 0;
  if (info->si_syscall == SYS_tgkill)
    result = signal_itself(arguments[2]);
  else if (!answer_call(info->si_syscall, arguments, &result))
    return end_by(info);
  registers[REG_RAX] = result;
}

// A launcher computes numbers and calls the CUDA runtime. A call that starts, observes or contacts
// anything else ends the process, by a signal that tells which call it was.
constexpr int kForbidden[] = {
    SYS_clone,
    SYS_fork,
    SYS_vfork,
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_sendto,
    SYS_shmget,
    SYS_msgget,
    SYS_semget,
    SYS_mount,
    SYS_umount2,
    SYS_unshare,
    SYS_setns,
    SYS_chroot,
    SYS_pivot_root,
    SYS_kexec_load,
    SYS_init_module,
    SYS_bpf,
    SYS_keyctl,
    SYS_add_key,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_kill,
    SYS_tkill,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_memfd_create,
    425 /* io_uring_setup */,
    435 /* clone3 */,
};

// Answered by world.cpp.
constexpr int kAnswered[] = {SYS_clock_gettime, SYS_gettimeofday, SYS_time,     SYS_times,
                             SYS_getpid,        SYS_gettid,       SYS_getppid,  SYS_getuid,
                             SYS_geteuid,       SYS_getgid,       SYS_getegid,  SYS_getcpu,
                             SYS_uname,         SYS_sysinfo,      SYS_getrusage};
constexpr int kFiles[] = {SYS_openat, SYS_faccessat, 439,        SYS_readlinkat, SYS_statx,
                          437,        SYS_open,      SYS_creat,  SYS_stat,       SYS_lstat,
                          SYS_access, SYS_readlink,  SYS_statfs, SYS_getcwd,     SYS_chdir,
                          SYS_mkdir,  SYS_unlink,    SYS_rename, SYS_newfstatat};

constexpr unsigned kOurs = 0x6b77;  // the last argument of a clock call that is our own

using Rules = std::vector<sock_filter>;

void load(Rules& rules, size_t offset) {
  rules.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset)));
}

void signal_for(Rules& rules, const int* first, const int* last) {
  for (; first != last; ++first) {
    rules.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(*first), 0, 1));
    rules.push_back(BPF_STMT(BPF_RET | BPF_K, kSignal));
  }
}

/// `number` is allowed if the low half of its argument `which` has this value.
void allow_with(Rules& rules, int number, size_t which, unsigned value) {
  rules.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 4));
  load(rules, offsetof(seccomp_data, args) + 8 * which);
  rules.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
  rules.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  rules.push_back(BPF_STMT(BPF_RET | BPF_K, kSignal));
}

bool install(Rules& rules) {
  rules.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog program{static_cast<unsigned short>(rules.size()), rules.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

bool confine_calls() {
  process = ::getpid();
  thread = static_cast<int>(::syscall(SYS_gettid));
  const bool clocks = clocks_by_system_calls();
  Rules rules = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, kKillProcess),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      // The x32 numbering of the same calls starts here.
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000U, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kKillProcess),
  };
  signal_for(rules, std::begin(kForbidden), std::end(kForbidden));
  allow_with(rules, SYS_tgkill, 0, static_cast<unsigned>(process));
  allow_with(rules, SYS_clock_gettime, 5, kOurs);
  signal_for(rules, std::begin(kAnswered), std::end(kAnswered));
  struct sigaction action {};
  action.sa_sigaction = on_call;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigaction(SIGSYS, &action, nullptr);
  // The counter answers like the clocks, which read it unless they enter the kernel.
  if (clocks) guard_machine();
  return install(rules);
}

bool confine_files() {
  Rules rules;
  load(rules, offsetof(seccomp_data, nr));
  signal_for(rules, std::begin(kFiles), std::end(kFiles));
  return install(rules);
}

double real_seconds() {
  timespec now{};
  ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now, 0, 0, 0, kOurs);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
#else
bool confine_calls() { return false; }
bool confine_files() { return false; }
double real_seconds() { return 0; }
#endif

}  // namespace kw::recorder

KW_RECORDED int kw_record_confine() { return kw::recorder::confine_calls() ? 1 : 0; }
KW_RECORDED int kw_record_confine_files() { return kw::recorder::confine_files() ? 1 : 0; }
KW_RECORDED double kw_record_seconds() { return kw::recorder::real_seconds(); }
