#include "host_recording/confine.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <vector>

namespace kw::host_recording {

#if defined(__x86_64__)
namespace {

constexpr unsigned kKillProcess = 0x80000000U;  // SECCOMP_RET_KILL_PROCESS
constexpr unsigned kSignal = 0x00030000U;       // SECCOMP_RET_TRAP

/// Prints the number of the forbidden call, then ends the process by the same signal. Even with
/// another handler installed, the call itself has no effect.
void say_which(int, siginfo_t* info, void*) {
  char text[] = "\nsystem call     \n";
  size_t at = sizeof(text) - 3;
  for (int number = info->si_syscall; number > 0 && text[at] == ' '; number /= 10)
    text[at--] = static_cast<char>('0' + number % 10);
  [[maybe_unused]] const ssize_t written = ::write(2, text, sizeof(text) - 1);
  ::signal(SIGSYS, SIG_DFL);
  ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), SIGSYS);
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

}  // namespace

std::string forbid_system_calls() {
  std::vector<sock_filter> rules = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, kKillProcess),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      // The x32 numbering of the same calls starts here.
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000U, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kKillProcess),
  };
  for (const int call : kForbidden) {
    rules.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    rules.push_back(BPF_STMT(BPF_RET | BPF_K, kSignal));
  }
  rules.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  struct sigaction action {};
  action.sa_sigaction = say_which;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigaction(SIGSYS, &action, nullptr);
  sock_fprog program{static_cast<unsigned short>(rules.size()), rules.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    return "";
  return "processes, threads, networks and other processes' memory";
}
#else
std::string forbid_system_calls() { return ""; }
#endif

}  // namespace kw::host_recording
