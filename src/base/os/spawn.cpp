// A child must die with us, so it asks for PR_SET_PDEATHSIG. That signal is sent when the *thread*
// that forked ends, not the process. A pool thread that starts a worker and then ends would kill
// the worker. So every fork happens on one thread that lives as long as the process. A double fork
// or a supervisor process would also work, but would hide the exit status from us. After the fork
// only async-signal-safe calls are allowed, so `Prepared` is filled before it. The cost: starts are
// serialised, and each start waits for one change of threads.
#include "os/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "core/text.h"
#include "os/call_filter.h"
#include "os/file_error.h"
#include "os/files.h"
#include "os/interrupt.h"
#include "os/landlock.h"
#include "os/process.h"

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
  int ruleset = -1;
  bool confined = false;
  const std::vector<sock_filter>* calls = nullptr;
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

[[noreturn]] void become_program(const Prepared& prepared) {
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
  if (prepared.confined && prepared.ruleset >= 0) allow_own_threads(prepared.ruleset);
  if (prepared.ruleset >= 0 && !enter_ruleset(prepared.ruleset)) fail(prepared.report);
  if (prepared.confined) drop_privileges();
  if (prepared.calls != nullptr && !enter_call_filter(*prepared.calls)) fail(prepared.report);
  ::execve(prepared.program.c_str(), prepared.argv.data(), prepared.envp.data());
  fail(prepared.report);
}

class Spawner {
 public:
  // Never destroyed: its thread must live as long as the process.
  static Spawner& instance() {
    static auto* spawner = new Spawner;
    return *spawner;
  }

  pid_t fork_and_exec(const Prepared& prepared) {
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

std::mutex& key_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::atomic<bool> keys_are_hidden{false};  // hide_keys() was called

std::set<std::string, std::less<>>& key_names() {
  static std::set<std::string, std::less<>> names;
  return names;
}

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

void add_key_variables(const std::vector<std::string>& names) {
  {
    const std::lock_guard lock(key_mutex());
    key_names().insert(names.begin(), names.end());
  }
  if (keys_are_hidden) hide_keys();
}

bool is_key_variable(std::string_view name) {
  constexpr std::string_view kWords[] = {"KEY",         "KEYS", "TOKENS", "SECRETS", "CREDENTIAL",
                                         "CREDENTIALS", "AUTH", "COOKIE", "PAT"};
  constexpr std::string_view kEndings[] = {"APIKEY",   "TOKEN",  "SECRET",
                                           "PASSWORD", "PASSWD", "PASSPHRASE"};
  for (const std::string& word : split(name, '_')) {
    std::string upper = word;
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (std::ranges::count(kWords, std::string_view(upper)) > 0) return true;
    if (std::ranges::any_of(kEndings, [&](auto ending) { return upper.ends_with(ending); }))
      return true;
  }
  const std::lock_guard lock(key_mutex());
  return key_names().count(name) > 0;
}

void hide_keys() {
  keys_are_hidden = true;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (is_key_variable(text.substr(0, text.find('=')))) {
      ::prctl(PR_SET_DUMPABLE, 0);
      return;
    }
  }
}

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
  prepared.ruleset = request.ruleset;
  prepared.confined = request.confined;
  if (request.confined && has_call_filter()) prepared.calls = &call_filter();
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
