// A child must die with us, so it asks for PR_SET_PDEATHSIG. That signal is sent when the *thread*
// that forked ends, not the process. A pool thread that starts a worker and then ends would kill
// the worker. So every fork happens on one thread that lives as long as the process. A double fork
// or a supervisor process would also work, but would hide the exit status from us. After the fork
// only async-signal-safe calls are allowed, so `Prepared` is filled before it. The cost: starts are
// serialised, and each start waits for one change of threads.
#include "os/spawn.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

#include "core/text.h"
#include "os/entropy.h"
#include "os/file_error.h"
#include "os/files.h"
#include "os/interrupt.h"
#include "os/keys.h"
#include "os/landlock.h"
#include "os/process.h"
#include "os/walls.h"

extern char** environ;

namespace kw::os {
namespace {

constexpr int kFirstPrivateFd = 10;

/// Everything a forked child needs. It is filled before the fork, because afterwards only
/// async-signal-safe calls are allowed.
struct Prepared {
  std::string program;
  std::vector<std::string> env_storage;
  std::vector<char*> argv, envp;
  int fds[4] = {-1, -1, -1, -1};
  uint64_t memory_bytes = 0;
  const Walls* walls = nullptr;
  std::vector<sock_filter> calls;
  // The three arguments of the start: inside Room when the filter knows their addresses.
  const char* start_program = nullptr;
  char* const* start_argv = nullptr;
  char* const* start_envp = nullptr;
  int report = -1;
  pid_t parent = 0;
};

[[noreturn]] void fail(int report) {
  const int code = errno;
  [[maybe_unused]] const ssize_t n = ::write(report, &code, sizeof(code));
  ::_exit(127);
}

void reset_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void limit(int resource, uint64_t value) {
  struct rlimit current {};
  ::getrlimit(static_cast<__rlimit_resource_t>(resource), &current);
  if (current.rlim_max != RLIM_INFINITY && value > current.rlim_max) value = current.rlim_max;
  const struct rlimit wanted { value, value };
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &wanted);
}

void enter_limits(const ChildLimits& limits) {
  if (limits.address_bytes != 0) limit(RLIMIT_AS, limits.address_bytes);
  if (limits.data_bytes != 0) limit(RLIMIT_DATA, limits.data_bytes);
  if (limits.file_bytes != UINT64_MAX) limit(RLIMIT_FSIZE, limits.file_bytes);
  if (limits.open_files != 0) limit(RLIMIT_NOFILE, limits.open_files);
}

/// The filter comes last, because the steps before it need calls that it refuses.
bool enter_walls(Prepared& prepared) {
  const Walls& walls = *prepared.walls;
  enter_limits(walls.limits);
  if (walls.files) {
    allow_own_entries(walls.files.get());
    if (!enter_ruleset(walls.files.get())) return false;
  }
  if (walls.drops_privileges) drop_privileges();
  for (const size_t step : walls.calls.own_number)
    prepared.calls[step].k = static_cast<unsigned>(::getpid());
  return prepared.calls.empty() || enter_call_filter(prepared.calls);
}

[[noreturn]] void become_program(Prepared& prepared) {
  if (prepared.walls != nullptr && prepared.walls->own_session)
    ::setsid();
  else
    ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != prepared.parent) ::_exit(127);  // the parent died before the line above
  reset_signals();
  for (int i = 0; i < 4; ++i) {
    if (prepared.fds[i] >= 0 && ::dup2(prepared.fds[i], i) < 0) fail(prepared.report);
  }
  const int first_free = prepared.fds[3] >= 0 ? 4 : 3;
#ifdef SYS_close_range
  ::syscall(SYS_close_range, first_free, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
#endif
  limit(RLIMIT_CORE, 0);
  if (prepared.memory_bytes != 0) limit(RLIMIT_AS, prepared.memory_bytes);
  if (prepared.walls != nullptr && !enter_walls(prepared)) fail(prepared.report);
  ::execve(prepared.start_program, prepared.start_argv, prepared.start_envp);
  fail(prepared.report);
}

// The filter is entered before the program starts, so it must let this one execve() pass and no
// later one. It recognises ours by the addresses of its three arguments. They lie at random places
// of a region at a random place, and the program that starts has another memory. Guessing them
// would take more tries than a process can make in the age of the universe (at least 2^80). A
// second filter that the program enters itself would be simpler, but must trust its first steps.
class Room {
 public:
  Room() = default;
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() {
    if (base_ != nullptr) ::munmap(base_, kBytes);
  }

  /// Moves the three arguments here and completes the filter with their addresses.
  Status hold(Prepared& prepared) {
    constexpr uint64_t kPlaces = uint64_t{1} << 46, kPage = 4096;
    for (int tries = 0; tries < 64 && base_ == nullptr; ++tries) {
      const uint64_t at = KW_TRY(random_bits()) % kPlaces / kPage * kPage;
      if (at < (uint64_t{1} << 32)) continue;
      void* const got = ::mmap(reinterpret_cast<void*>(at), kBytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | kNoReplace, -1, 0);
      if (got == MAP_FAILED) continue;
      base_ = static_cast<char*>(got);
    }
    if (base_ == nullptr) return environment_error("starting a program: no memory");
    for (size_t part = 0; part < 3; ++part) free_[part] = base_ + part * kPart;
    for (char*& at : free_) at += KW_TRY(random_bits()) % (kPart / 2) / 8 * 8;
    char* const program = free_[0];
    std::memcpy(program, prepared.program.c_str(), prepared.program.size() + 1);
    char** const argv = copied(prepared.argv, free_[1]);
    char** const envp = copied(prepared.envp, free_[2]);
    prepared.start_program = program;
    prepared.start_argv = argv;
    prepared.start_envp = envp;
    const void* const addresses[] = {program, argv, envp};
    const std::vector<size_t>& steps = prepared.walls->calls.start_addresses;
    for (size_t i = 0; i < steps.size(); ++i) {
      const auto address = reinterpret_cast<uint64_t>(addresses[i / 2]);
      prepared.calls[steps[i]].k = static_cast<unsigned>(i % 2 == 0 ? address : address >> 32);
    }
    return Done{};
  }

 private:
  static constexpr size_t kPart = size_t{64} << 20, kBytes = 3 * kPart;
  static constexpr int kNoReplace = 0x100000;  // MAP_FIXED_NOREPLACE

  static char** copied(const std::vector<char*>& from, char* to) {
    auto* const list = reinterpret_cast<char**>(to);
    std::copy(from.begin(), from.end(), list);
    return list;
  }

  char* base_ = nullptr;
  char* free_[3] = {};  // where each of the three parts of the region is used
};

class Spawner {
 public:
  // Never destroyed: its thread must live as long as the process.
  static Spawner& instance() {
    static auto* spawner = new Spawner;
    return *spawner;
  }

  pid_t fork_and_exec(Prepared& prepared) {
    std::packaged_task<pid_t()> task([&prepared] {
      const pid_t pid = ::fork();
      if (pid == 0) become_program(prepared);
      return pid < 0 ? -errno : pid;
    });
    std::future<pid_t> result = task.get_future();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
    return result.get();
  }

 private:
  Spawner() {
    struct sigaction old {};
    ::sigaction(SIGCHLD, nullptr, &old);
    // If SIGCHLD is ignored, the system reaps our children before we learn how they ended.
    if (old.sa_handler == SIG_IGN) ::signal(SIGCHLD, SIG_DFL);
    // The thread inherits this mask, so it blocks all signals.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { loop(); }).detach();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void loop() {
    for (;;) {
      std::packaged_task<pid_t()> task;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [this] { return !tasks_.empty(); });
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::packaged_task<pid_t()>> tasks_;
};

// The variables that programs need from the user's environment. A name that ends in '_' is a
// prefix.
constexpr std::string_view kNeeded[] = {"PATH",
                                        "LANG",
                                        "LANGUAGE",
                                        "LC_",
                                        "TZ",
                                        "TERM",
                                        "LD_LIBRARY_PATH",
                                        "CC",
                                        "CXX",
                                        "OMP_",
                                        "KMP_",
                                        "MKL_",
                                        "OPENBLAS_",
                                        "GOMP_",
                                        "CUDA_",
                                        "CUBLAS_",
                                        "CUDNN_",
                                        "NCCL_",
                                        "NVIDIA_",
                                        "TORCH_",
                                        "TORCHINDUCTOR_",
                                        "ATEN_",
                                        "TRITON_",
                                        "PYTORCH_",
                                        "KW_",
                                        "KERNELWRIGHT_",
                                        "ASAN_",
                                        "UBSAN_",
                                        "TSAN_",
                                        "LSAN_",
                                        "VIRTUAL_ENV"};

bool is_needed(std::string_view name) {
  return std::ranges::any_of(kNeeded, [&](std::string_view one) {
    return one.ends_with('_') ? name.starts_with(one) : name == one;
  });
}

bool reaches(std::string_view name, Environment environment) {
  if (environment == Environment::Everything) return true;
  return !is_key_variable(name) && (environment != Environment::Needed || is_needed(name));
}

std::vector<std::string> merged_environment(const std::vector<std::string>& extra,
                                            Environment environment) {
  std::vector<std::string> merged;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const std::string& other : extra) {
      replaced |= std::string_view(other).substr(0, other.find('=')) == name;
    }
    if (!replaced && reaches(name, environment)) merged.emplace_back(text);
  }
  if (environment == Environment::Everything) {
    for (std::string& entry : hidden_keys()) {
      const bool replaced = std::ranges::any_of(extra, [&](const std::string& other) {
        return other.starts_with(entry.substr(0, entry.find('=') + 1));
      });
      if (!replaced) merged.push_back(std::move(entry));
    }
  }
  merged.insert(merged.end(), extra.begin(), extra.end());
  return merged;
}

/// The errno that the child reported before exec, or 0 when exec succeeded.
int exec_error(int fd) {
  int code = 0;
  ssize_t n = 0;
  do {
    n = ::read(fd, &code, sizeof(code));
  } while (n < 0 && errno == EINTR);
  return n == sizeof(code) ? code : 0;
}

}  // namespace

void UniqueFd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

UniqueFd above_standard(UniqueFd fd) {
  if (!fd || fd.get() >= kFirstPrivateFd) return fd;
  UniqueFd above(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstPrivateFd));
  if (!above && errno == EINVAL) errno = EMFILE;  // the limit is not above that number
  return above;
}

Result<std::pair<UniqueFd, UniqueFd>> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return environment_error("creating a pipe: {}", reason_of(errno));
  }
  std::pair<UniqueFd, UniqueFd> pipe{above_standard(UniqueFd(ends[0])),
                                     above_standard(UniqueFd(ends[1]))};
  if (!pipe.first || !pipe.second)
    return environment_error("creating a pipe: {}", reason_of(EMFILE));
  return pipe;
}

Result<pid_t> spawn(const SpawnRequest& request) {
  if (request.argv.empty()) return input_error("starting a program: no name given");
  if (interrupted()) return environment_error("interrupted");
  Prepared prepared;
  prepared.program = find_program(request.argv[0]);
  if (prepared.program.empty()) {
    return environment_error("starting {}: no such program", request.argv[0]);
  }
  for (const std::string& arg : request.argv)
    prepared.argv.push_back(const_cast<char*>(arg.c_str()));
  prepared.argv.push_back(nullptr);
  prepared.env_storage = merged_environment(request.extra_env, request.environment);
  for (std::string& entry : prepared.env_storage) prepared.envp.push_back(entry.data());
  prepared.envp.push_back(nullptr);
  const UniqueFd null = above_standard(UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  if (!null) return environment_error("starting {}: {}", prepared.program, reason_of(errno));
  const int given[3] = {request.in, request.out, request.err};
  for (int i = 0; i < 3; ++i) prepared.fds[i] = given[i] >= 0 ? given[i] : null.get();
  prepared.fds[3] = request.channel;
  prepared.memory_bytes = request.memory_bytes;
  prepared.start_program = prepared.program.c_str();
  prepared.start_argv = prepared.argv.data();
  prepared.start_envp = prepared.envp.data();
  Room room;
  prepared.walls = request.walls;
  if (request.walls != nullptr) {
    prepared.calls = request.walls->calls.steps;
    if (!request.walls->calls.start_addresses.empty()) KW_TRY(room.hold(prepared));
  }
  prepared.parent = ::getpid();
  auto [reader, writer] = KW_TRY(make_pipe());
  prepared.report = writer.get();
  const pid_t pid = Spawner::instance().fork_and_exec(prepared);
  writer.reset();
  const int code = pid < 0 ? -pid : exec_error(reader.get());
  if (code == 0) return pid;
  if (pid > 0) kill_and_reap(pid);
  return environment_error("starting {}: {}", prepared.program, reason_of(code));
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

bool has_ended(pid_t pid) {
  siginfo_t info{};
  int rc = 0;
  do {
    rc = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
  } while (rc != 0 && errno == EINTR);
  return rc != 0 || info.si_pid == pid;
}

ExitStatus kill_and_reap(pid_t pid) {
  // Until the leader is reaped, its number cannot name another process group.
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
  int status = 0;
  pid_t got = 0;
  do {
    got = ::waitpid(pid, &status, 0);
  } while (got < 0 && errno == EINTR);
  if (got != pid) return {};
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

double monotonic_seconds() {
  struct timespec now {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace kw::os
