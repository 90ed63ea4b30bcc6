#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <system_error>
#include <thread>

#include "os/files.h"
#include "os/spawn.h"
#include "sandbox/properties.h"

extern char** environ;

namespace kw::sandbox {
namespace {

// The test program is its own child. With this variable set it tries to escape, says what it could
// do, and exits before any test runs.
std::array<int, 2> pair_of_pipe() {
  std::array<int, 2> ends{-1, -1};
  EXPECT_EQ(::pipe(ends.data()), 0);
  return ends;
}

/// A local address without a listener.
constexpr socklen_t kAddressBytes = sizeof(sa_family_t) + 12;
const sockaddr* unheard() {
  static const sockaddr_un kAddress{AF_UNIX, "\0kw-no-such"};
  return reinterpret_cast<const sockaddr*>(&kAddress);
}

/// Memory that is shared under a number; the test makes it, so that an attempt can find it.
constexpr key_t kSharedKey = 0x6b775f74;

/// Attempts on other processes: their scheduling and memory. Names those that succeed.
std::string disturb(pid_t other) {
  std::string could;
  const auto note = [&](const char* name, bool done) {
    if (done) could += std::string(name) + " ";
  };
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  ::sched_getaffinity(other, sizeof(cpus), &cpus);
  note("affinity", ::sched_setaffinity(other, sizeof(cpus), &cpus) == 0);
  const sched_param ordinary{};
  note("scheduler", ::sched_setscheduler(other, SCHED_OTHER, &ordinary) == 0);
  const int nice_now = ::getpriority(PRIO_PROCESS, static_cast<id_t>(other));
  note("priority", ::setpriority(PRIO_PROCESS, static_cast<id_t>(other), nice_now) == 0);
  note("priorities", ::setpriority(PRIO_USER, 0, nice_now) == 0);
  constexpr int kOfProcess = 1, kBestEffort = (2 << 13) | 4;
  note("io", ::syscall(SYS_ioprio_set, kOfProcess, other, kBestEffort) == 0);
  note("handle", ::syscall(SYS_pidfd_open, other, 0) >= 0);
  const int shared =
      std::stoi(os::env("KW_WALLS_SHARED").empty() ? "-1" : os::env("KW_WALLS_SHARED"));
  note("attach", ::shmat(shared, nullptr, 0) != reinterpret_cast<void*>(-1));
  shmid_ds about{};
  note("inspect", ::shmctl(shared, IPC_STAT, &about) == 0);
  note("queue", ::syscall(SYS_mq_open, "kw_escaped", O_CREAT | O_RDWR, 0600, nullptr) >= 0);
  note("orphan", ::prctl(PR_SET_PDEATHSIG, 0) == 0);
  return could;
}

/// Empties files without the right to write them, where Landlock does not know of it.
std::string empty_files() {
  std::string could;
  const std::string path = os::env("KW_WALLS_VICTIM");
  if (::open(path.c_str(), O_RDONLY | O_TRUNC) >= 0) could += "emptying ";
  if (::truncate(path.c_str(), 0) == 0) could += "truncating ";
  return could;
}

/// Tries what a confined program must not do, and sends the names of the attempts that succeeded.
void try_escapes() {
  std::string could;
  const auto note = [&](const char* name, bool done) {
    if (done) could += std::string(name) + " ";
  };
  const pid_t parent = ::getppid();
  const std::string home = "/proc/" + std::to_string(parent);
  const pid_t group = ::getpgrp();
  rlimit limit{};
  int pair[2];
  note("socket", ::socket(AF_INET, SOCK_STREAM, 0) >= 0);
  note("datagram", ::socket(AF_UNIX, SOCK_DGRAM, 0) >= 0);
  note("pair", ::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) == 0);
  // No process listens there, so a permitted connect fails with ECONNREFUSED.
  note("connect", ::connect(::socket(AF_UNIX, SOCK_STREAM, 0), unheard(), kAddressBytes) == 0 ||
                      errno == ECONNREFUSED);
  note("chmod", ::chmod(os::self_path().c_str(), 0755) == 0);
  note("chown", ::chown(os::self_path().c_str(), ::getuid(), ::getgid()) == 0);
  note("limits", ::prlimit(parent, RLIMIT_NOFILE, nullptr, &limit) == 0);
  note("environment", ::open((home + "/environ").c_str(), O_RDONLY) >= 0);
  note("memory", ::open((home + "/mem").c_str(), O_RDONLY) >= 0);
  note("signal", ::kill(parent, 0) == 0);
  note("namespace", ::unshare(CLONE_NEWUSER) == 0);
  note("write", ::open("/tmp/kw_escaped", O_WRONLY | O_CREAT, 0600) >= 0);
  ::setsid();
  note("group", ::getpgrp() != group);
  const pid_t forked = ::fork();
  if (forked == 0) ::_exit(0);
  note("fork", forked > 0);
  char program[] = "/no/such/program";
  char* const words[] = {program, nullptr};
  ::execve(program, words, environ);
  note("program", errno == ENOENT);
  note("shared", ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  int own = ::getpid();
  note("owner", ::fcntl(pair_of_pipe()[0], F_SETOWN, own) == 0);
  could += disturb(parent) + empty_files();
  try {
    note("thread", (std::thread([] {}).join(), true));
  } catch (const std::system_error&) {
    note("thread", false);
  }
  os::child_send(could);
}
const bool kEscapes = [] {
  if (os::env("KW_WALLS_PART").empty()) return false;
  try_escapes();
  ::_exit(0);
}();

/// While it exists, this process takes the kernel for one whose Landlock has this version.
struct OldKernel {
  explicit OldKernel(long version) { os::cap_landlock(version); }
  ~OldKernel() { os::cap_landlock(1 << 20); }
};

bool has_all_walls() {
  return std::ranges::none_of(properties_on(this_kernel()),
                              [](const Property& one) { return one.provider.empty(); });
}

/// What the attempts find: a file that they can read, and memory that is shared under a number.
class Confined : public testing::Test {
 protected:
  Confined() {
    EXPECT_TRUE(os::write_file(victim_, "full"));
    shared_ = ::shmget(kSharedKey, 4096, IPC_CREAT | 0600);
  }
  ~Confined() override {
    ::shmctl(shared_, IPC_RMID, nullptr);
    ::unlink(victim_.c_str());
    ::unlink("/tmp/kw_escaped");
    ::syscall(SYS_mq_unlink, "kw_escaped");
  }
  std::vector<std::string> part() const {
    return {"KW_WALLS_PART=escapes", "KW_WALLS_VICTIM=" + victim_,
            "KW_WALLS_SHARED=" + std::to_string(shared_)};
  }
  ForeignProcess job(Kind kind) const {
    ForeignProcess job{kind, system_files(), part()};
    job.allowed.reading.insert(job.allowed.reading.end(), {"/proc", victim_});
    job.allowed.running.push_back(os::self_path());
    return job;
  }
  static std::string answer_of(const Result<std::unique_ptr<os::Child>>& child) {
    if (!child) return child.error().message;
    std::string could;
    EXPECT_EQ((*child)->receive(&could, 20), os::ChannelState::Open) << (*child)->stderr_tail();
    return could;
  }
  /// What the attempts of a process of this kind achieve.
  std::string attempt(Kind kind) const { return answer_of(start(job(kind), {os::self_path()})); }

  const std::string victim_ = testing::TempDir() + "kw_victim." + std::to_string(::getpid());
  int shared_ = -1;
};

TEST_F(Confined, ReachesNothingOutside) {
  if (!has_all_walls()) GTEST_SKIP() << "this machine has not all walls";
  for (const Kind kind : {Kind::CompilerLibrary, Kind::Recorder})
    EXPECT_EQ(attempt(kind), "thread ") << row_of(kind).name;
  EXPECT_EQ(attempt(Kind::Torch), "fork thread ");
  EXPECT_EQ(attempt(Kind::GpuWorker), "shared thread ");
  EXPECT_EQ(attempt(Kind::Parser), "") << "not even a thread";
  EXPECT_EQ(*os::read_file(victim_), "full");
}

/// Debian 12 has version 2: no TCP, no signals, no truncation. The list of calls stands in.
TEST_F(Confined, ReachesNothingOutsideWhereLandlockIsOld) {
  if (!has_all_walls()) GTEST_SKIP() << "this machine has not all walls";
  for (const long version : {1, 2, 4}) {
    const OldKernel old(version);
    EXPECT_EQ(attempt(Kind::CompilerLibrary), "thread ") << version;
    EXPECT_EQ(*os::read_file(victim_), "full") << version;
  }
}

TEST_F(Confined, IsNotStartedWhereAWallIsMissing) {
  const OldKernel none(0);
  const std::string refused = attempt(Kind::Torch);
  for (const char* words : {"PyTorch is not started", "files (this kernel has no Landlock",
                            "kernelwright doctor", "--unconfined torch"})
    EXPECT_NE(refused.find(words), std::string::npos) << words << " in " << refused;
  const Unconfined others({"compiler", "gpu"});
  EXPECT_EQ(attempt(Kind::Torch), refused) << "another kind is not meant";
}

/// The same attempts succeed without walls. This proves that the tests above can fail.
TEST_F(Confined, MeetsWallsAndNotAccidents) {
  EXPECT_TRUE(started_unconfined().empty());
  std::string could;
  {
    const OldKernel none(0);
    const Unconfined meant({"torch"});
    could = attempt(Kind::Torch);
  }
  for (const char* name :
       {"socket",      "datagram", "pair",    "connect",  "chmod",     "limits",
        "environment", "signal",   "write",   "affinity", "scheduler", "priority",
        "io",          "handle",   "attach",  "inspect",  "orphan",    "emptying",
        "truncating",  "fork",     "program", "shared",   "owner",     "thread"})
    EXPECT_NE(could.find(std::string(name) + " "), std::string::npos) << name << " of " << could;
  EXPECT_EQ(started_unconfined(), std::vector<std::string>{"torch"});
  const OldKernel none(0);
  EXPECT_NE(attempt(Kind::Torch).find("is not started"), std::string::npos) << "only for a while";
}

Result<os::ProcessResult> shell(Kind kind, const std::string& script) {
  return run({kind, system_files()}, {"/bin/sh", "-c", script});
}

TEST(Sandbox, StartsEveryKind) {
  if (!has_all_walls()) GTEST_SKIP() << "this machine has not all walls";
  for (const KindRow& row : kinds()) {
    const auto ran = shell(row.kind, "echo fine");
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "fine\n") << row.name << ": " << ran->err << ran->signal;
    const auto inner = shell(row.kind, "/bin/echo fine");
    ASSERT_TRUE(inner);
    EXPECT_EQ(inner->out == "fine\n", (row.calls & kPrograms) != 0) << row.name;
  }
}

TEST(Sandbox, EndsProcessesThatMultiply) {
  if (!has_all_walls()) GTEST_SKIP() << "this machine has not all walls";
  const auto ran = shell(Kind::CompilerProgram,
                         "i=0; while [ $i -lt 100 ]; do sleep 60 & i=$((i+1)); done; wait");
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->signal, SIGKILL);
  EXPECT_NE(ran->err.find("it started more than 64 processes"), std::string::npos) << ran->err;
}

TEST(Sandbox, LeavesNoProcessBehind) {
  if (!has_all_walls()) GTEST_SKIP() << "this machine has not all walls";
  const auto ran = shell(Kind::CompilerProgram, "(setsid sleep 600 & echo $!) &\nwait; sleep 0.2");
  ASSERT_TRUE(ran) << ran.error().message;
  const int stray = std::atoi(ran->out.c_str());
  ASSERT_GT(stray, 1) << ran->out << ran->err;
  for (int i = 0; i < 500 && ::kill(stray, 0) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_NE(::kill(stray, 0), 0);
}

struct MachineCase {
  const char* name;
  KernelFacts kernel;
  const char* missing;  // names of properties
};

TEST(Properties, AreMetByWhatTheKernelOffers) {
  const MachineCase cases[] = {
      {"Debian 12", {2, true, ""}, ""},
      {"Ubuntu 24.04", {4, true, ""}, ""},
      {"Debian 13", {6, true, ""}, ""},
      {"no Landlock", {0, true, "none"}, "files "},
      {"no seccomp", {6, false, ""}, "files network signals processes "},
      {"neither", {0, false, "none"}, "files network signals processes "},
  };
  for (const MachineCase& one : cases) {
    std::string missing;
    for (const Property& property : properties_on(one.kernel)) {
      EXPECT_EQ(property.provider.empty(), !property.missing.empty());
      if (property.provider.empty()) missing += std::string(property.name) + " ";
    }
    EXPECT_EQ(missing, one.missing) << one.name;
  }
}

TEST(Unconfined, HasAWordForEveryKind) {
  EXPECT_EQ(kind_words(),
            (std::vector<std::string>{"compiler", "parser", "recorder", "torch", "gpu"}));
  EXPECT_TRUE(unconfined_words().empty());
  const Unconfined meant({"gpu", "parser"});
  EXPECT_EQ(unconfined_words(), (std::vector<std::string>{"parser", "gpu"}));
}

}  // namespace
}  // namespace kw::sandbox
