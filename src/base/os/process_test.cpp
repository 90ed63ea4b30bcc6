#include "os/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "os/files.h"
#include "os/interrupt.h"
#include "os/landlock.h"
#include "os/shared_memory.h"
#include "os/spawn.h"
#include "os/walls.h"

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
const bool kPlaysAPart = [] {
  const std::string part = env("KW_TEST_PART");
  if (part.empty()) return false;
  if (part == "echo") echo_frames();
  if (part == "sum") sum_shared_memory();
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
  auto ruleset = make_ruleset(allowed);
  if (!ruleset) GTEST_SKIP() << ruleset.error().message;
  Walls walls;
  walls.files = std::move(ruleset).value();
  ProcessLimits limits;
  limits.walls = &walls;
  EXPECT_NE(shell("cat /etc/passwd", {}, limits).exit_code, 0);
  EXPECT_NE(shell("echo x > /tmp/kw_confined", {}, limits).exit_code, 0);
  EXPECT_EQ(shell("echo fine", {}, limits).out, "fine\n");
}

TEST(Landlock, FilesMayMoveBetweenFoldersThatMayBeWritten) {
  const std::string folder = testing::TempDir() + "kw_moving." + std::to_string(::getpid());
  ASSERT_EQ(shell("mkdir " + folder).exit_code, 0);
  const Allowed allowed{{"/etc/ld.so.cache"}, {"/usr", "/bin", "/lib", "/lib64"}, {folder}};
  auto ruleset = make_ruleset(allowed);
  if (!ruleset) GTEST_SKIP() << ruleset.error().message;
  Walls walls;
  walls.files = std::move(ruleset).value();
  ProcessLimits limits;
  limits.walls = &walls;
  // Uses a link, because mv copies a file that it may not move.
  const auto moved =
      shell("cd " + folder + " && mkdir in && echo x > in/a && ln in/a b && cat b", {}, limits);
  EXPECT_EQ(moved.out, "x\n") << moved.err;
  EXPECT_EQ(shell("rm -r " + folder).exit_code, 0);
}

}  // namespace
}  // namespace kw::os
