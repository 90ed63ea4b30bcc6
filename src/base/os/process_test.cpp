#include "os/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "os/call_filter.h"
#include "os/files.h"
#include "os/interrupt.h"
#include "os/landlock.h"
#include "os/shared_memory.h"
#include "os/spawn.h"

namespace kw::os {
namespace {

// The test program is its own child. With this variable set it plays one part and exits before any
// test runs.
void echo_frames() {
  std::string frame;
  while (child_receive(&frame) == ChannelState::Open) child_send(frame);
}
void sum_shared_memory() {
  std::string frame;
  std::vector<int> fds;
  if (child_receive(&frame, &fds) != ChannelState::Open || fds.size() != 2) ::_exit(9);
  auto memory = SharedMemory::attach(fds[0], 1 << 20);
  int sum = 0;
  for (uint64_t i = 0; i < memory->size(); ++i) sum += std::to_integer<int>(memory->data()[i]);
  child_send(std::to_string(sum));
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
  const int shared = std::stoi(env("KW_TEST_SHARED").empty() ? "-1" : env("KW_TEST_SHARED"));
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
  const std::string path = env("KW_TEST_VICTIM");
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
  note("chmod", ::chmod(self_path().c_str(), 0755) == 0);
  note("chown", ::chown(self_path().c_str(), ::getuid(), ::getgid()) == 0);
  note("limits", ::prlimit(parent, RLIMIT_NOFILE, nullptr, &limit) == 0);
  note("environment", ::open((home + "/environ").c_str(), O_RDONLY) >= 0);
  note("memory", ::open((home + "/mem").c_str(), O_RDONLY) >= 0);
  note("signal", ::kill(parent, 0) == 0);
  note("namespace", ::unshare(CLONE_NEWUSER) == 0);
  note("write", ::open("/tmp/kw_escaped", O_WRONLY | O_CREAT, 0600) >= 0);
  ::setsid();
  note("group", ::getpgrp() != group);
  could += disturb(parent) + empty_files();
  note("thread", (std::thread([] {}).join(), true));
  child_send(could);
}
void read_confined() {
  const Confinement confinement = confine({{"/usr", "/no/such/folder"}, {}, {}});
  std::string verdict = confinement.active ? "active" : "inactive: " + confinement.reason;
  if (confinement.active) {
    verdict +=
        exists("/etc/passwd") && read_file("/etc/passwd") ? ", reads /etc" : ", refuses /etc";
    verdict += list_directory("/usr").empty() ? ", refuses /usr" : ", reads /usr";
    verdict += write_file("/tmp/kw_confined", "x") ? ", writes" : ", refuses writing";
  }
  const std::string disturbed = disturb(::getppid());
  child_send(verdict + (disturbed.empty() ? ", disturbs nothing" : ", disturbs: " + disturbed));
}

/// Older Linux kernels have no Landlock, or one that knows less.
void try_under_the_filter_alone() {
  const pid_t parent = ::getppid();
  child_send(enter_call_filter(call_filter()) ? disturb(parent) + empty_files() : "no filter");
}
const bool kPlaysAPart = [] {
  const std::string part = env("KW_TEST_PART");
  if (part.empty()) return false;
  if (part == "echo") echo_frames();
  if (part == "sum") sum_shared_memory();
  if (part == "confined") read_confined();
  if (part == "escapes") try_escapes();
  if (part == "filtered") try_under_the_filter_alone();
  ::_exit(0);
}();

std::unique_ptr<Child> start_part(const std::string& part) {
  auto child = Child::start({self_path()}, {{"KW_TEST_PART=" + part}});
  EXPECT_TRUE(child) << child.error().message;
  return std::move(child).value();
}

std::unique_ptr<Child> start_shell(const std::string& script) {
  auto child = Child::start({"sh", "-c", script});
  EXPECT_TRUE(child) << child.error().message;
  return std::move(child).value();
}

/// Whether the process is gone, or is a zombie that init has not collected yet.
bool dies(pid_t pid) {
  for (int i = 0; i < 300; ++i) {
    const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    if (!stat || stat->find(") Z") != std::string::npos) return true;
    ::usleep(10000);
  }
  return false;
}

ProcessResult shell(const std::string& script, std::string_view input = {},
                    const ProcessLimits& limits = {}) {
  auto result = run_process({"sh", "-c", script}, input, limits);
  EXPECT_TRUE(result) << result.error().message;
  return std::move(result).value();
}

TEST(RunProcess, GivesOutputAndExitCode) {
  const ProcessResult result = shell("cat; echo problem >&2; exit 3", "hello");
  EXPECT_EQ(result.out, "hello");
  EXPECT_EQ(result.err, "problem\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.signal, 0);
}

TEST(RunProcess, EnvironmentIsExtendedAndReplaced) {
  ::setenv("KW_OLD", "old", 1);
  auto result = run_process({"sh", "-c", "echo $KW_OLD $KW_NEW"}, {}, {}, {"KW_OLD=x", "KW_NEW=y"});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out, "x y\n");
}

TEST(RunProcess, WhatCannotBeStartedIsAnError) {
  for (const std::vector<std::string>& argv : std::vector<std::vector<std::string>>{
           {}, {"no-such-program-here"}, {"/etc/hostname"}, {"/tmp"}}) {
    EXPECT_FALSE(run_process(argv));
  }
}

TEST(RunProcess, HugeInputAndOutputDoNotDeadlock) {
  const std::string input(20 << 20, 'x');
  EXPECT_EQ(shell("cat | cat", input).out.size(), input.size());
  EXPECT_EQ(shell("true", input).exit_code, 0) << "input that nobody reads";
}

TEST(RunProcess, OutputOverTheLimitIsCutAndSaid) {
  ProcessLimits limits;
  limits.output_bytes = 1000;
  const ProcessResult result =
      shell("head -c 5000000 /dev/zero | tr '\\0' y; echo done >&2", {}, limits);
  EXPECT_EQ(result.out, std::string(1000, 'y') + "\n[cut after 1000 B]\n");
  EXPECT_EQ(result.err, "done\n");
}

TEST(RunProcess, EndlessOutputEndsItWhereAsked) {
  ProcessLimits limits;
  limits.output_bytes = 1000;
  limits.end_when_cut = true;
  const ProcessResult result = shell("yes", {}, limits);
  EXPECT_FALSE(result.timed_out);
  EXPECT_NE(result.signal, 0);
  EXPECT_EQ(result.out.substr(0, 4), "y\ny\n");
}

TEST(RunProcess, AHangingChildIsKilledWithItsChildren) {
  ProcessLimits limits;
  limits.timeout_seconds = 0.3;
  for (const char* script :
       {"sleep 60 & echo $!; wait", "trap '' TERM; echo $$; while :; do :; done",
        "echo $$; exec >&- 2>&-; sleep 60"}) {
    const double start = monotonic_seconds();
    const ProcessResult result = shell(script, {}, limits);
    EXPECT_TRUE(result.timed_out) << script;
    EXPECT_LT(monotonic_seconds() - start, 5);
    const pid_t pid = std::stoi(result.out);
    EXPECT_TRUE(dies(pid)) << "still there: " << script;
  }
}

TEST(RunProcess, EndlessOutputEndsAtTheDeadline) {
  ProcessLimits limits;
  limits.timeout_seconds = 0.3;
  EXPECT_TRUE(shell("yes", {}, limits).timed_out);
}

TEST(RunProcess, AGrandchildHoldingThePipeDoesNotHoldUs) {
  const double start = monotonic_seconds();
  EXPECT_EQ(shell("sleep 30 & echo early").out, "early\n");
  EXPECT_LT(monotonic_seconds() - start, 5);
}

TEST(RunProcess, SignalsAndMemoryLimitAreSeen) {
  EXPECT_EQ(shell("kill -SEGV $$").signal, SIGSEGV);
  ProcessLimits limits;
  limits.memory_bytes = 64 << 20;
  EXPECT_EQ(shell("ulimit -v", {}, limits).out, "65536\n");
}

TEST(RunProcess, StandardDescriptorsMayBeClosedInTheParent) {
  const int saved = ::dup(0);
  ::close(0);
  const ProcessResult result = shell("cat; echo err >&2", "in");
  ::dup2(saved, 0);
  ::close(saved);
  EXPECT_EQ(result.out, "in");
  EXPECT_EQ(result.err, "err\n");
}

TEST(Child, EchoesFramesOfEverySize) {
  auto child = start_part("echo");
  for (size_t size : {0, 1, 3, 4, 5, 65536, 5 << 20}) {
    const std::string frame(size, static_cast<char>('a' + size % 7));
    std::string back;
    ASSERT_EQ(child->send(frame), ChannelState::Open);
    ASSERT_EQ(child->receive(&back, 20), ChannelState::Open) << size;
    EXPECT_EQ(back, frame);
  }
  EXPECT_TRUE(child->alive());
  EXPECT_EQ(child->how_it_ended(), "");
  child->kill();
  EXPECT_EQ(child->how_it_ended(), "killed by signal 9 (SIGKILL)");
  EXPECT_EQ(child->send("x"), ChannelState::Closed);
}

TEST(Child, DescriptorsTravelWithAFrame) {
  auto child = start_part("sum");
  auto memory = SharedMemory::create(1 << 20);
  ASSERT_TRUE(memory);
  memory->data()[0] = std::byte{40};
  memory->data()[(1 << 20) - 1] = std::byte{2};
  ASSERT_EQ(child->send("sum it", {memory->fd(), 0}), ChannelState::Open);
  std::string answer;
  ASSERT_EQ(child->receive(&answer, 20), ChannelState::Open) << child->how_it_ended();
  EXPECT_EQ(answer, "42");
}

TEST(Child, TimesOutAndContinuesAFrameLater) {
  auto child =
      start_shell("printf '\\005\\000\\000\\000he' >&3; sleep 0.4; printf llo >&3; sleep 60");
  std::string frame;
  EXPECT_EQ(child->receive(&frame, 0.15), ChannelState::TimedOut);
  ASSERT_EQ(child->receive(&frame, 10), ChannelState::Open);
  EXPECT_EQ(frame, "hello");
}

TEST(Child, EndsAreTold) {
  const struct {
    const char* script;
    const char* ended;
  } cases[] = {
      {"exit 7", "exited with code 7"},
      {"kill -ABRT $$", "killed by signal 6 (SIGABRT)"},
      {"printf '\\377\\000\\000\\000half' >&3; kill -KILL $$", "killed by signal 9 (SIGKILL)"},
  };
  for (const auto& c : cases) {
    auto child = start_shell(c.script);
    std::string frame;
    EXPECT_EQ(child->receive(&frame, 10), ChannelState::Closed) << c.script;
    for (int i = 0; i < 200 && child->alive(); ++i) ::usleep(5000);
    EXPECT_EQ(child->how_it_ended(), c.ended);
  }
}

TEST(Child, AnAbsurdFrameLengthIsRefused) {
  auto child = start_shell("printf '\\377\\377\\377\\377' >&3; sleep 60");
  std::string frame;
  EXPECT_EQ(child->receive(&frame, 10), ChannelState::Closed);
}

TEST(Child, AFullStderrBlocksNobody) {
  auto child = start_shell(
      "head -c 1000000 /dev/zero | tr '\\0' e >&2; echo the end >&2; "
      "printf '\\002\\000\\000\\000ok' >&3; sleep 60");
  std::string frame;
  ASSERT_EQ(child->receive(&frame, 20), ChannelState::Open);
  EXPECT_EQ(frame, "ok");
  const std::string tail = child->stderr_tail();
  EXPECT_EQ(tail.size(), 65536U);
  EXPECT_EQ(tail.substr(tail.size() - 8), "the end\n");
}

TEST(Child, LivesOnWhenTheThreadThatStartedItEnds) {
  std::unique_ptr<Child> child;
  std::thread([&] { child = start_part("echo"); }).join();
  ::usleep(50000);
  std::string back;
  ASSERT_EQ(child->send("still here"), ChannelState::Open);
  ASSERT_EQ(child->receive(&back, 10), ChannelState::Open);
}

TEST(Child, DestructorKillsTheWholeGroup) {
  auto child = start_shell("sleep 60 & echo $! >&2; printf '\\001\\000\\000\\000x' >&3; wait");
  std::string frame;
  ASSERT_EQ(child->receive(&frame, 10), ChannelState::Open);
  const pid_t grandchild = std::stoi(child->stderr_tail());
  child.reset();
  EXPECT_TRUE(dies(grandchild));
}

TEST(Interrupt, EndsWaitsCleanly) {
  install_interrupt_handler();
  auto child = start_shell("sleep 60");
  std::thread killer([] {
    ::usleep(200000);
    ::kill(::getpid(), SIGTERM);
  });
  std::string frame;
  const double start = monotonic_seconds();
  EXPECT_EQ(child->receive(&frame, 30), ChannelState::Closed);
  EXPECT_LT(monotonic_seconds() - start, 5);
  killer.join();
  EXPECT_TRUE(interrupted());
  EXPECT_FALSE(child->alive());
  EXPECT_FALSE(run_process({"true"})) << "nothing is started after Ctrl-C";
  clear_interrupt();
  EXPECT_FALSE(interrupted());
  EXPECT_TRUE(run_process({"true"}));
}

TEST(Interrupt, AFileAtItsSizeLimitIsAnError) {
  const std::string path = testing::TempDir() + "kw_size_limit";
  const pid_t child = ::fork();
  if (child == 0) {
    install_interrupt_handler();
    const rlimit limit{16, 16};
    const bool limited = ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
    const bool wrote = write_file(path, std::string(100, 'x')).has_value();
    ::_exit(limited && !wrote ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Landlock, ConfinesAProgramFromItsStart) {
  const Allowed allowed{{"/etc/ld.so.cache"}, {"/usr", "/bin", "/lib", "/lib64"}, {}};
  if (auto ruleset = make_ruleset(allowed); !ruleset) GTEST_SKIP() << ruleset.error().message;
  ProcessLimits limits;
  limits.allowed = &allowed;
  EXPECT_NE(shell("cat /etc/passwd", {}, limits).exit_code, 0);
  EXPECT_NE(shell("echo x > /tmp/kw_confined", {}, limits).exit_code, 0);
  EXPECT_EQ(shell("echo fine", {}, limits).out, "fine\n");
}

/// What the attempts find: a file that they can read, and memory that is shared under a number.
class Confined : public testing::Test {
 protected:
  Confined() {
    EXPECT_TRUE(write_file(victim_, "full"));
    shared_ = ::shmget(kSharedKey, 4096, IPC_CREAT | 0600);
  }
  ~Confined() override {
    ::shmctl(shared_, IPC_RMID, nullptr);
    ::unlink(victim_.c_str());
    ::unlink("/tmp/kw_escaped");
    ::syscall(SYS_mq_unlink, "kw_escaped");
  }
  std::vector<std::string> part(const std::string& name) const {
    return {"KW_TEST_PART=" + name, "KW_TEST_VICTIM=" + victim_,
            "KW_TEST_SHARED=" + std::to_string(shared_)};
  }
  std::string attempt(const ChildOptions& options) const {
    auto child = Child::start({self_path()}, options);
    EXPECT_TRUE(child) << child.error().message;
    std::string could;
    EXPECT_EQ((*child)->receive(&could, 20), ChannelState::Open) << (*child)->stderr_tail();
    return could;
  }

  const std::string victim_ = testing::TempDir() + "kw_victim." + std::to_string(::getpid());
  int shared_ = -1;
};

/// All restrictions on a child that runs text we did not write.
TEST_F(Confined, ReachesNothingOutside) {
  const Allowed allowed{
      {"/proc", "/etc/ld.so.cache", victim_}, {"/usr", "/bin", "/lib", "/lib64", self_path()}, {}};
  const std::string could = attempt({part("escapes"), Environment::Needed, &allowed});
  if (!missing_limits().empty()) GTEST_SKIP() << missing_limits().front() << ": " << could;
  EXPECT_EQ(could, "thread ");
  EXPECT_EQ(*read_file(victim_), "full");
}

TEST_F(Confined, IsHeldByTheFilterWhereLandlockIsOld) {
  if (!has_call_filter()) GTEST_SKIP() << "no call filter";
  EXPECT_EQ(attempt({part("filtered")}), "");
  EXPECT_EQ(*read_file(victim_), "full");
}

/// The same attempts succeed without confinement. This proves that the tests above can fail.
TEST_F(Confined, MeetsWallsAndNotAccidents) {
  const std::string could = attempt({part("escapes")});
  for (const char* name :
       {"socket", "datagram", "pair",     "connect",   "chmod",      "limits", "environment",
        "signal", "write",    "affinity", "scheduler", "priority",   "io",     "handle",
        "attach", "inspect",  "orphan",   "emptying",  "truncating", "thread"})
    EXPECT_NE(could.find(std::string(name) + " "), std::string::npos) << name << " of " << could;
}

TEST(Landlock, FilesMayMoveBetweenFoldersThatMayBeWritten) {
  const std::string folder = testing::TempDir() + "kw_moving." + std::to_string(::getpid());
  ASSERT_EQ(shell("mkdir " + folder).exit_code, 0);
  const Allowed allowed{{"/etc/ld.so.cache"}, {"/usr", "/bin", "/lib", "/lib64"}, {folder}};
  if (auto ruleset = make_ruleset(allowed); !ruleset) GTEST_SKIP() << ruleset.error().message;
  ProcessLimits limits;
  limits.allowed = &allowed;
  // Uses a link, because mv copies a file that it may not move.
  const auto moved =
      shell("cd " + folder + " && mkdir in && echo x > in/a && ln in/a b && cat b", {}, limits);
  EXPECT_EQ(moved.out, "x\n") << moved.err;
  EXPECT_EQ(shell("rm -r " + folder).exit_code, 0);
}

TEST(Landlock, ConfinesReading) {
  auto child = start_part("confined");
  std::string verdict;
  ASSERT_EQ(child->receive(&verdict, 10), ChannelState::Open);
  if (verdict.starts_with("inactive")) GTEST_SKIP() << verdict;
  EXPECT_EQ(verdict, "active, refuses /etc, reads /usr, refuses writing, disturbs nothing");
}

}  // namespace
}  // namespace kw::os
