#include "store/index.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <thread>

#include "os/files.h"
#include "store/database.h"
#include "store/find.h"
#include "store/gc.h"
#include "store/run.h"
#include "store/run_id.h"
#include "store/test_folder.h"

namespace kw::store {
namespace {

using StoredRun = Run;  // a test class has a member named Run

RunInputs inputs(const std::string& name) {
  RunInputs in;
  in.name = name;
  in.reference = "def f(x): return x\n";
  in.config = Json::object().set("proposer", "builtin").set("target", "sm_90");
  return in;
}

/// A finished run with two candidates; the faster one takes `best` microseconds.
std::string finished(const std::string& root, const std::string& name, double best) {
  StoredRun run = StoredRun::create({root, ""}, inputs(name)).value();
  for (const double us : {best + 1, best}) {
    const auto one = record::make_candidate(std::to_string(us), {}, "builtin", "row", {});
    EXPECT_TRUE(run.add(one));
    EXPECT_TRUE(run.judged(one.id, Json::object().set("verdict", "passed")));
    EXPECT_TRUE(run.timed(one.id, Json::object().set("microseconds", us)));
  }
  Json report = Json::object();
  report.set("passed", true).set("performance", Json::object().set("speedup_vs_reference", 2.5));
  EXPECT_TRUE(run.finish(report, {"cu", "", "", ""}));
  return run.folder();
}

void expect_listed(const std::string& root, size_t count) {
  const std::vector<RunRow> rows = list_runs(root).value();
  ASSERT_EQ(rows.size(), count);
  for (const RunRow& row : rows) {
    EXPECT_EQ(row.status, "passed");
    EXPECT_EQ(row.candidates, 2);
    EXPECT_EQ(row.judged, 2);
    EXPECT_EQ(row.passed, 2);
    EXPECT_EQ(row.proposer, "builtin");
    EXPECT_EQ(row.target, "sm_90");
    EXPECT_EQ(row.best_us, 3.0);
    EXPECT_EQ(row.speedup, 2.5);
    EXPECT_GT(row.bytes, 500);
    EXPECT_EQ(row.folder, root + "/" + row.id);
  }
}

TEST(Index, ListsWhatTheFoldersHold) {
  const TestFolder root;
  EXPECT_TRUE(list_runs(root.path())->empty());
  EXPECT_TRUE(list_runs(root.path() + "/nowhere")->empty());
  finished(root.path(), "a", 3);
  finished(root.path(), "b", 3);
  expect_listed(root.path(), 2);
  EXPECT_TRUE(os::exists(root.path() + "/index.sqlite"));
}

TEST(Index, NamesTheTargetThatWasChosen) {
  const TestFolder root;
  RunInputs automatic = inputs("a");
  automatic.config.set("target", "auto");
  automatic.env = Json::object().set("device", Json::object().set("target", "sm_120"));
  ASSERT_TRUE(StoredRun::create({root.path(), ""}, automatic));
  EXPECT_EQ(list_runs(root.path())->at(0).target, "sm_120");
}

TEST(Index, SeesWhatChangedBehindItsBack) {
  const TestFolder root;
  const std::string first = finished(root.path(), "a", 3), second = finished(root.path(), "b", 3);
  expect_listed(root.path(), 2);
  std::filesystem::remove_all(first);
  const auto one = record::make_candidate("new", {}, "builtin", "row", {});
  {
    std::filesystem::rename(root.path() + "/index.sqlite", root.path() + "/away");
    StoredRun run = StoredRun::open(second, Access::Write).value();  // finds no index to update
    ASSERT_TRUE(run.add(one));
    ASSERT_TRUE(run.judged(one.id, Json::object().set("verdict", "wrong")));
  }
  std::filesystem::rename(root.path() + "/away", root.path() + "/index.sqlite");
  const std::vector<RunRow> rows = list_runs(root.path()).value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].candidates, 3);
  EXPECT_EQ(rows[0].passed, 2);
}

TEST(Index, ShowsARunThatIsHeld) {
  const TestFolder root;
  std::optional<StoredRun> run = StoredRun::create({root.path(), ""}, inputs("a")).value();
  EXPECT_EQ(list_runs(root.path())->at(0).status, "running");
  run.reset();
  EXPECT_EQ(list_runs(root.path())->at(0).status, "interrupted");
}

TEST(Index, ShowsARunThatIsDamaged) {
  const TestFolder root;
  ASSERT_TRUE(os::write_file(finished(root.path(), "a", 3) + "/run.json", "{"));
  const std::vector<RunRow> rows = list_runs(root.path()).value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].status, "damaged");
  EXPECT_NE(rows[0].reason.find("run.json"), std::string::npos);
}

TEST(Index, CallsACopyByItsOwnName) {
  const TestFolder root;
  std::filesystem::copy(finished(root.path(), "a", 3), root.path() + "/copy",
                        std::filesystem::copy_options::recursive);
  expect_listed(root.path(), 2);
  EXPECT_EQ(list_runs(root.path())->at(1).id, "copy");
  EXPECT_EQ(*find_run(root.path(), "copy"), root.path() + "/copy");
}

TEST(Index, TakesNoOtherFolderForARun) {
  const TestFolder root;
  for (const char* name : {"notes", "project", "locked"}) {
    ASSERT_TRUE(os::make_directories(root.path() + "/" + name));
  }
  ASSERT_TRUE(os::write_file(root.path() + "/project/run.json", "{\"format\": \"other\"}"));
  ASSERT_TRUE(os::write_file(root.path() + "/locked/lock", ""));
  ASSERT_TRUE(os::write_file(root.path() + "/locked/thesis.tex", "years of work"));
  EXPECT_TRUE(list_runs(root.path())->empty());
  GcRequest all{root.path(), -1.0, {}, 0, true};
  EXPECT_TRUE(collect_garbage(all)->items.empty());
  EXPECT_TRUE(os::exists(root.path() + "/locked/thesis.tex"));
}

// The index is rebuilt after any damage to the file.
TEST(Index, IsRebuiltWhateverIsWrongWithIt) {
  const TestFolder root;
  finished(root.path(), "a", 3);
  expect_listed(root.path(), 1);
  const std::string path = root.path() + "/index.sqlite";
  const std::string sound = *os::read_file(path);
  std::vector<std::string> broken = {"", "not a database at all, but longer than its header",
                                     sound.substr(0, 700)};
  for (size_t at = 0; at < sound.size(); at += 509) {
    broken.push_back(sound);
    for (size_t i = at; i < std::min(at + 60, sound.size()); ++i) broken.back()[i] = '\xa5';
  }
  for (const std::string& bytes : broken) {
    for (const char* suffix : {"-wal", "-shm"}) ASSERT_TRUE(os::remove_file(path + suffix));
    ASSERT_TRUE(os::write_file(path, bytes, os::Sync::No));
    expect_listed(root.path(), 1);
  }
}

TEST(Index, OfAnotherVersionIsReplaced) {
  const TestFolder root;
  finished(root.path(), "a", 3);
  {
    Database database = Database::open(root.path() + "/index.sqlite").value();
    ASSERT_TRUE(database.run("PRAGMA user_version = 99"));
  }
  expect_listed(root.path(), 1);
}

TEST(Index, AnEditedRowIsReadAgain) {
  const TestFolder root;
  finished(root.path(), "a", 3);
  {
    Database database = Database::open(root.path() + "/index.sqlite").value();
    ASSERT_TRUE(database.run("UPDATE runs SET status = 'failed', best_us = 1, bytes = bytes + 1"));
  }
  expect_listed(root.path(), 1);
}

TEST(Index, InMemoryMakesNoFile) {
  EXPECT_TRUE(Database::open(Database::kNoFile));
  EXPECT_FALSE(os::exists(Database::kNoFile));
}

TEST(Index, IsNotNeeded) {
  const TestFolder root;
  finished(root.path(), "a", 3);
  const std::string path = root.path() + "/index.sqlite";
  for (const char* suffix : {"", "-wal", "-shm"}) ASSERT_TRUE(os::remove_file(path + suffix));
  ASSERT_TRUE(os::make_directories(path + "/in/the/way"));  // a folder in its place
  expect_listed(root.path(), 1);
}

TEST(Index, IsWrittenByManyRunsAtOnce) {
  const TestFolder root;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&root, t] { finished(root.path(), "t" + std::to_string(t), 3); });
  }
  for (std::thread& thread : threads) thread.join();
  expect_listed(root.path(), 4);
}

TEST(FindRun, ByPathIdBeginningAndLatest) {
  const TestFolder root;
  const std::string first = finished(root.path(), "soft", 3),
                    second = finished(root.path(), "norm", 3);
  const std::string id = std::filesystem::path(first).filename();
  const std::string digits = id.substr(id.rfind('-') + 1);
  EXPECT_EQ(digits.size(), 12u);
  for (const std::string& name :
       {first, id, id.substr(0, id.size() - 1), digits, digits.substr(0, 8)}) {
    EXPECT_EQ(*find_run(root.path(), name), first) << name;
  }
  EXPECT_EQ(*find_run(root.path(), "latest"), second);
  const std::pair<std::string, std::string> wrong[] = {{"20", "matches 2 runs"},
                                                       {"zzz", "has an id that begins with 'zzz'"},
                                                       {"", "missing run"},
                                                       {"/no/where", "there is no run folder"},
                                                       {root.path() + "/", "is not a run folder"}};
  for (const auto& [name, want] : wrong) {
    const Result<std::string> found = find_run(root.path(), name);
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().blame, Blame::Input);
    EXPECT_NE(found.error().message.find(want), std::string::npos) << found.error().message;
  }
  const TestFolder empty;
  EXPECT_FALSE(find_run(empty.path(), "latest"));
}

TEST(RunId, SortsByTimeAndFitsInAFileName) {
  EXPECT_EQ(run_id(1794733964, "rms_norm", 0x13f2a), "20261115-091244-rms_norm-000000013f2a");
  EXPECT_EQ(run_id(0, "../x y/\n", 1), "19700101-000000-.._x_y__-000000000001");
  EXPECT_EQ(run_id(0, "", 1), "19700101-000000-run-000000000001");
  EXPECT_LT(run_id(0, std::string(5000, 'x'), 1).size(), 64u);
  EXPECT_EQ(utc_seconds(utc_text(1794733964)), 1794733964);
  for (const char* bad : {"", "2026", "2026-11-15T09:12:44", "2026-11-15T09:12:44Z "}) {
    EXPECT_EQ(utc_seconds(bad), -1) << bad;
  }
}

void age(const std::string& folder, int days) {
  const std::string path = folder + "/run.json";
  Json json = Json::parse(*os::read_file(path)).value();
  json.set("created", utc_text(wall_clock() - int64_t{days} * 86400));
  ASSERT_TRUE(os::write_file(path, json.dump()));
}

TEST(Gc, RemovesTheOldButOnlyWhenTold) {
  const TestFolder root;
  const std::string old = finished(root.path(), "old", 3),
                    young = finished(root.path(), "young", 3);
  age(old, 40);
  GcRequest request{root.path(), 30 * 86400.0, {}, 0, false};
  const GcReport plan = collect_garbage(request).value();
  ASSERT_EQ(plan.items.size(), 1u);
  EXPECT_EQ(plan.items[0].run.folder, old);
  EXPECT_EQ(plan.items[0].why, "40 days old");
  EXPECT_EQ(plan.freed, plan.items[0].run.bytes);
  EXPECT_TRUE(os::exists(old));
  request.remove = true;
  EXPECT_EQ(collect_garbage(request)->items[0].problem, "");
  EXPECT_FALSE(os::exists(old));
  EXPECT_TRUE(os::exists(young));
  EXPECT_EQ(list_runs(root.path())->size(), 1u);
  EXPECT_TRUE(os::glob(root.path() + "/.trash-*").empty());
}

TEST(Gc, KeepsWithinABudgetAndSparesTheHeld) {
  const TestFolder root;
  std::vector<std::string> folders;
  for (int i = 0; i < 4; ++i) {
    folders.push_back(finished(root.path(), "r" + std::to_string(i), 3));
    age(folders.back(), 10 - i);
  }
  const StoredRun held = StoredRun::open(folders[0], Access::Write).value();
  GcRequest request{root.path(), {}, 0, 1, true};
  const GcReport report = collect_garbage(request).value();
  EXPECT_EQ(report.items.size(), 2u);
  EXPECT_TRUE(os::exists(folders[0])) << "it is held";
  EXPECT_FALSE(os::exists(folders[1]));
  EXPECT_FALSE(os::exists(folders[2]));
  EXPECT_TRUE(os::exists(folders[3])) << "the newest is kept";
}

TEST(Gc, StopsOnceTheRestFits) {
  const TestFolder root;
  int64_t bytes = 0;
  for (int i = 0; i < 3; ++i) finished(root.path(), "r", 3);
  const std::vector<RunRow> rows = list_runs(root.path()).value();
  for (const RunRow& row : rows) bytes += row.bytes;
  GcRequest request{root.path(), {}, bytes - 1, 0, true};
  EXPECT_EQ(collect_garbage(request)->items.size(), 1u);
  EXPECT_EQ(list_runs(root.path())->size(), 2u);
  EXPECT_TRUE(collect_garbage(request)->items.empty());
}

}  // namespace
}  // namespace kw::store
