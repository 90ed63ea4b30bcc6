// Cuts a run at each of its writes in four ways and resumes it, and kills a real process at random
// moments. Everything the store acknowledged must be there afterwards.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <random>

#include "os/files.h"
#include "store/fault_disk.h"
#include "store/index.h"
#include "store/run.h"
#include "store/test_folder.h"

namespace kw::store {
namespace {

using StoredRun = Run;  // a test class has a member named Run

constexpr int kCandidates = 4;

record::Candidate nth(int number) {
  return record::make_candidate(fmt::format("// candidate {}\n", number), {{"VEC", number}},
                                "builtin", "row program", {});
}

Json verdict_of(int number) {
  return Json::object().set("verdict", number % 2 == 0 ? "passed" : "wrong").set("n", number);
}

RunInputs inputs() {
  RunInputs in;
  in.name = "cut";
  in.prompt = "p";
  in.reference = "def f(x): return x\n";
  in.spec = in.config = in.env = Json::object().set("a", 1);
  return in;
}

/// What the store told the caller it has kept.
struct Promised {
  bool created = false, finished = false;
  std::map<std::string, Json> verdicts, timings;
  std::map<std::string, std::string> logs;
  std::vector<std::string> added, events;
  int checkpoint = -1;
};

// Judges all candidates that have no verdict yet, as a resumed search does.
Status work(StoredRun& run, Promised* promised) {
  for (int number = 0; number < kCandidates; ++number) {
    const record::Candidate one = nth(number);
    if (!run.judgement(one.id).is_null()) continue;
    KW_TRY(run.add(one));
    promised->added.push_back(one.id);
    KW_TRY(run.compiled(one.id, "log of " + one.id));
    promised->logs[one.id] = "log of " + one.id;
    KW_TRY(run.judged(one.id, verdict_of(number)));
    promised->verdicts[one.id] = verdict_of(number);
    KW_TRY(run.timed(one.id, Json::object().set("microseconds", 1.5 + number)));
    promised->timings[one.id] = Json::object().set("microseconds", 1.5 + number);
    const std::string kind = fmt::format("tried-{}", number);
    KW_TRY(run.append(kind, Json::object()));
    promised->events.push_back(kind);
    KW_TRY(run.checkpoint(Json::object().set("next", number + 1)));
    promised->checkpoint = number + 1;
  }
  KW_TRY(run.finish(Json::object().set("passed", true), {"cu", "ptx", "cubin", "readme"}));
  promised->finished = true;
  return Done{};
}

Promised session(const std::string& folder, os::Disk& disk) {
  Promised promised;
  Result<StoredRun> run = StoredRun::create({"", folder}, inputs(), disk);
  if (!run) return promised;
  promised.created = true;
  static_cast<void>(work(*run, &promised));
  return promised;
}

void expect_kept(const StoredRun& run, const Promised& promised) {
  EXPECT_EQ(run.damage(), std::vector<std::string>{});
  for (const std::string& id : promised.added) EXPECT_TRUE(run.candidate(id)) << id;
  for (const auto& [id, log] : promised.logs) EXPECT_EQ(run.compile_log(id), log);
  for (const auto& [id, want] : promised.verdicts) {
    EXPECT_EQ(run.judgement(id).dump(), want.dump()) << id;
  }
  for (const auto& [id, want] : promised.timings) {
    EXPECT_EQ(run.timing(id).dump(), want.dump()) << id;
  }
  EXPECT_GE(run.checkpoint()["next"].as_int(-1), promised.checkpoint);
  std::set<std::string> kinds;
  for (const record::Event& event : run.events()) kinds.insert(event.kind);
  for (const std::string& kind : promised.events) EXPECT_TRUE(kinds.count(kind)) << kind;
  EXPECT_TRUE(!promised.finished || run.report()["passed"].as_bool());
}

int operations_of_a_whole_session() {
  const TestFolder root;
  FaultDisk disk;
  EXPECT_TRUE(session(root.path() + "/run", disk).finished);
  return disk.operations();
}

class CutAtEveryWrite : public testing::TestWithParam<Cut> {};

TEST_P(CutAtEveryWrite, LosesNothingThatWasPromised) {
  const int operations = operations_of_a_whole_session();
  ASSERT_GT(operations, 40);
  for (int at = 0; at < operations; ++at) {
    SCOPED_TRACE(fmt::format("cut at write {} of {}", at, operations));
    const TestFolder root;
    const std::string folder = root.path() + "/run";
    FaultDisk disk(at, GetParam());
    const Promised promised = session(folder, disk);
    ASSERT_TRUE(disk.dead());
    const bool is_run = os::exists(folder + "/run.json");
    EXPECT_TRUE(is_run || !promised.created);
    if (is_run) {  // reading it first must not need a repair
      expect_kept(*StoredRun::open(folder, Access::Read), promised);
    }
    Result<StoredRun> again =
        is_run ? StoredRun::open(folder, Access::Write) : StoredRun::create({"", folder}, inputs());
    ASSERT_TRUE(again) << again.error().message;
    expect_kept(*again, promised);
    Promised rest;
    ASSERT_TRUE(work(*again, &rest));
    EXPECT_EQ(again->candidates().size(), static_cast<size_t>(kCandidates));
    EXPECT_EQ(again->report()["storage"]["judged"].as_int(), kCandidates);
    expect_kept(*again, rest);
    EXPECT_EQ(os::glob(folder + "/*.tmp-*").size() + os::glob(folder + "/*/*.tmp-*").size(), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, CutAtEveryWrite,
                         testing::Values(Cut::Before, Cut::Torn, Cut::After, Cut::Full));

// A second crash during the repair of the first must not lose more.
TEST(CrashWhileMending, LosesNothing) {
  for (int at = 0; at < 6; ++at) {
    const TestFolder root;
    const std::string folder = root.path() + "/run";
    FaultDisk first(30, Cut::Torn);
    const Promised promised = session(folder, first);
    ASSERT_TRUE(promised.created);
    FaultDisk second(at, Cut::Torn);
    static_cast<void>(StoredRun::open(folder, Access::Write, second));
    const StoredRun run = StoredRun::open(folder, Access::Write).value();
    expect_kept(run, promised);
    EXPECT_GE(run.crashes(), 1);
  }
}

TEST(FullDisk, IsTheMachinesFaultAndPasses) {
  const TestFolder root;
  const std::string folder = root.path() + "/run";
  const int operations = operations_of_a_whole_session();
  // The last writes sign and close: these may fail without a word.
  for (int at = 14; at < operations - 5; at += 5) {
    SCOPED_TRACE(at);
    const std::string here = fmt::format("{}-{}", folder, at);
    FaultDisk disk(at, Cut::Full);
    Result<StoredRun> run = StoredRun::create({"", here}, inputs(), disk);
    ASSERT_TRUE(run);
    Promised promised;
    const Status stopped = work(*run, &promised);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().blame, Blame::Environment);
    expect_kept(*StoredRun::open(here, Access::Read), promised);
    disk.make_space();
    EXPECT_TRUE(work(*run, &promised)) << "once there is room the same run goes on";
    EXPECT_EQ(run->report()["storage"]["judged"].as_int(), kCandidates);
  }
}

// If the winner does not fit on the disk, the run must still get a report.
TEST(FullDisk, LeavesRoomForTheReport) {
  class NoKernels : public FaultDisk {
    Status write(const std::string& path, std::string_view bytes, os::Sync sync) override {
      if (path.ends_with("kernel.ptx")) return environment_error("No space left on device");
      return FaultDisk::write(path, bytes, sync);
    }
  };
  const TestFolder root;
  NoKernels disk;
  StoredRun run = StoredRun::create({"", root.path() + "/run"}, inputs(), disk).value();
  EXPECT_GT(os::file_size(run.folder() + "/reserve"), 100000u);
  const Status finished = run.finish(Json::object().set("passed", true), {"cu", "ptx", "", ""});
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().blame, Blame::Environment);
  EXPECT_FALSE(run.report()["passed"].as_bool());
  EXPECT_EQ(run.report()["failed_stage"].as_string(), "store");
  EXPECT_NE(run.report()["failure_reason"].as_string().find("No space"), std::string::npos);
  EXPECT_FALSE(os::exists(run.folder() + "/reserve"));
}

// A disk without inodes takes no new file at all.
TEST(FullDisk, LeavesAFileForTheReport) {
  class NoInodes : public FaultDisk {
    Status write(const std::string& path, std::string_view bytes, os::Sync sync) override {
      if (full) return environment_error("No space left on device");
      return FaultDisk::write(path, bytes, sync);
    }
    Status make_directories(const std::string& path) override {
      if (full) return environment_error("No space left on device");
      return FaultDisk::make_directories(path);
    }

   public:
    bool full = false;
  };
  const TestFolder root;
  NoInodes disk;
  StoredRun run = StoredRun::create({"", root.path() + "/run"}, inputs(), disk).value();
  disk.full = true;
  const Status finished = run.finish(Json::object().set("passed", true), {"cu", "", "", ""});
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().blame, Blame::Environment);
  EXPECT_EQ(run.report()["failed_stage"].as_string(), "store");
  EXPECT_TRUE(run.report()["interrupted"].as_bool());
  EXPECT_FALSE(os::exists(run.folder() + "/reserve"));
  EXPECT_LT(os::file_size(run.folder() + "/report.json"), 10000u)
      << "the rest of the reserve is cut";
}

// A real disk that refuses: no file may grow past a limit.
TEST(FullDisk, LeavesNoHalfLines) {
  const TestFolder root;
  const std::string path = root.path() + "/log";
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int kept = 0;
    while (kept < 100 && os::real_disk().append(path, std::string(69, 'x') + "\n")) ++kept;
    const Status written = os::real_disk().write(path + "2", std::string(2000, 'y'), os::Sync::No);
    const bool refused = !written && written.error().blame == Blame::Environment;
    ::_exit(kept == 14 && refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(os::file_size(path), 14u * 70);
  EXPECT_EQ(os::list_directory(root.path()), std::vector<std::string>{"log"});
}

// Adds and judges candidates forever. Tells the parent each acknowledged verdict.
[[noreturn]] void toil(const std::string& folder, int pipe) {
  FaultDisk quick;  // does not sync: kill -9 does not need it
  Result<StoredRun> run = os::exists(folder + "/run.json")
                              ? StoredRun::open(folder, Access::Write, quick)
                              : StoredRun::create({"", folder}, inputs(), quick);
  if (!run) ::_exit(2);
  for (int number = static_cast<int>(run->candidates().size());; ++number) {
    const record::Candidate one = nth(number);
    if (!run->add(one) || !run->judged(one.id, verdict_of(number))) ::_exit(3);
    if (::write(pipe, &number, sizeof number) != sizeof number) ::_exit(4);
  }
}

/// Kills the process some microseconds after `verdicts` verdicts. Returns all acknowledged ones.
std::vector<int> kill_after(const std::string& folder, size_t verdicts, useconds_t delay) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    toil(folder, ends[1]);
  }
  ::close(ends[1]);
  std::vector<int> acknowledged;
  int number = 0;
  const auto next = [&] { return ::read(ends[0], &number, sizeof number) == sizeof number; };
  while (acknowledged.size() < verdicts && next()) acknowledged.push_back(number);
  ::usleep(delay);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it stopped by itself with code " << WEXITSTATUS(status);
  while (next()) acknowledged.push_back(number);
  ::close(ends[0]);
  return acknowledged;
}

TEST(KilledProcess, LosesNoVerdict) {
  const TestFolder root;
  const std::string folder = root.path() + "/run";
  std::mt19937 random(7);
  std::vector<int> acknowledged;
  for (int round = 0; round < 25; ++round) {
    const auto delay = static_cast<useconds_t>(random() % 3000);
    for (const int number : kill_after(folder, round == 0 ? 1 : random() % 4, delay)) {
      acknowledged.push_back(number);
    }
    const StoredRun run = StoredRun::open(folder, Access::Read).value();
    ASSERT_EQ(run.damage(), std::vector<std::string>{});
    for (const int number : acknowledged) {
      ASSERT_EQ(run.judgement(nth(number).id).dump(), verdict_of(number).dump()) << number;
    }
    EXPECT_EQ(run_status(folder), "interrupted") << "the lock of a dead process is free";
  }
  EXPECT_GT(acknowledged.size(), 10u);
  const StoredRun run = StoredRun::open(folder, Access::Write).value();
  EXPECT_GE(run.crashes(), 1);
  EXPECT_LE(run.crashes(), 25);
}

}  // namespace
}  // namespace kw::store
