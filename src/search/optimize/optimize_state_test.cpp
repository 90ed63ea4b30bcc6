#include "optimize/optimize_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "core/text.h"
#include "optimize/folder.h"
#include "os/files.h"

namespace kw::optimize {
namespace {

class RunFolder : public testing::Test {
 protected:
  RunFolder() {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    path_ = testing::TempDir() + "kw_optimize_" + name;
    std::filesystem::remove_all(path_);
  }
  ~RunFolder() override { std::filesystem::remove_all(path_); }

  /// A run with two revisions.
  void make() const {
    Result<Folder> folder = Folder::create(path_);
    ASSERT_TRUE(folder) << folder.error().message;
    folder->state.task = "scale";
    folder->state.best.file = "baseline/k.cu";
    ASSERT_TRUE(folder->commit("setup"));
    folder->state.phase = Phase::Opened;
    folder->state.iter = 1;
    ASSERT_TRUE(folder->commit("open-iter"));
  }

  std::string read(const char* name) const { return os::read_file(path_ + "/" + name).value(); }
  void write(const char* name, const std::string& text) const {
    ASSERT_TRUE(os::write_file(path_ + "/" + name, text));
  }
  std::string refusal() const {
    const Result<Folder> folder = Folder::open(path_);
    return folder ? "" : folder.error().message;
  }

  std::string path_;
};

TEST_F(RunFolder, KeepsAState) {
  make();
  const Result<Folder> folder = Folder::open(path_);
  ASSERT_TRUE(folder) << folder.error().message;
  EXPECT_EQ(folder->state.phase, Phase::Opened);
  EXPECT_EQ(folder->state.iter, 1);
  EXPECT_EQ(folder->state.revision, 2);
}

// Several processes that start in the same second.
TEST_F(RunFolder, IsNotSharedByRunsThatStartTogether) {
  std::vector<std::string> made(8);
  std::vector<std::thread> threads;
  for (std::string& path : made) {
    threads.emplace_back([this, &path] {
      const Result<std::string> folder = make_run_folder(path_);
      if (folder && Folder::create(*folder)) path = *folder;
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::sort(made.begin(), made.end());
  EXPECT_NE(made.front(), "");
  EXPECT_EQ(std::adjacent_find(made.begin(), made.end()), made.end());
}

TEST_F(RunFolder, HasOneWriter) {
  make();
  const Result<Folder> first = Folder::open(path_);
  ASSERT_TRUE(first);
  EXPECT_NE(refusal().find("in use by process"), std::string::npos) << refusal();
  EXPECT_TRUE(Folder::look(path_));
}

TEST_F(RunFolder, IsNotThere) {
  EXPECT_NE(refusal().find("setup' makes one"), std::string::npos) << refusal();
  ASSERT_TRUE(os::make_directories(path_));
  EXPECT_NE(refusal().find("has no state.json"), std::string::npos) << refusal();
}

TEST_F(RunFolder, OfAnotherVersionIsRefused) {
  make();
  write("state.json",
        replace_all(read("state.json"), "\"schema_version\": 1", "\"schema_version\": 7"));
  EXPECT_NE(refusal().find("version 7"), std::string::npos) << refusal();
  EXPECT_NE(refusal().find("set up a new run from baseline/k.cu"), std::string::npos);
}

TEST_F(RunFolder, EditedByHandIsRefusedAndRestored) {
  make();
  const std::string before = read("state.json");
  write("state.json", replace_all(before, "\"phase\": \"opened\"", "\"phase\": \"closed\""));
  EXPECT_NE(refusal().find("changed by hand"), std::string::npos) << refusal();
  EXPECT_NE(refusal().find("--restore"), std::string::npos);
  EXPECT_FALSE(Folder::look(path_));
  ASSERT_TRUE(Folder::restore(path_));
  EXPECT_EQ(read("state.json"), before);
  EXPECT_EQ(refusal(), "");
}

TEST_F(RunFolder, WithAnOlderStatePutBackIsRefused) {
  make();
  const std::string before = read("state.json");
  {
    Result<Folder> folder = Folder::open(path_);
    ASSERT_TRUE(folder);
    ASSERT_TRUE(folder->commit("one"));
    ASSERT_TRUE(folder->commit("two"));
  }
  write("state.json", before);
  EXPECT_NE(refusal().find("is not what"), std::string::npos) << refusal();
}

TEST_F(RunFolder, DamagedIsRefusedAndRestored) {
  make();
  const std::string before = read("state.json");
  write("state.json", before.substr(0, before.size() / 2));
  EXPECT_NE(refusal().find("damaged"), std::string::npos) << refusal();
  ASSERT_TRUE(Folder::restore(path_));
  EXPECT_EQ(refusal(), "");
}

TEST_F(RunFolder, CutBetweenJournalAndStateGoesOn) {
  make();
  const std::string before = read("state.json");
  {
    Result<Folder> folder = Folder::open(path_);
    ASSERT_TRUE(folder);
    folder->state.retries = 2;
    ASSERT_TRUE(folder->commit("branch"));
  }
  write("state.json", before);
  const Result<Folder> folder = Folder::open(path_);
  ASSERT_TRUE(folder) << folder.error().message;
  EXPECT_EQ(folder->state.retries, 2);
}

TEST_F(RunFolder, TornJournalLineIsLeftOut) {
  make();
  write("journal.jsonl", read("journal.jsonl") + "{\"revision\": 3, \"sta");
  EXPECT_EQ(refusal(), "");
}

TEST_F(RunFolder, WithoutJournalIsRefused) {
  make();
  std::filesystem::remove(path_ + "/journal.jsonl");
  EXPECT_NE(refusal().find("cannot be trusted"), std::string::npos) << refusal();
  EXPECT_FALSE(Folder::restore(path_));
}

TEST_F(RunFolder, MovesToAnotherPlace) {
  make();
  const std::string moved = path_ + "_moved";
  std::filesystem::remove_all(moved);
  std::filesystem::rename(path_, moved);
  const Result<State> state = Folder::look(moved);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->run_dir, moved);
  std::filesystem::remove_all(moved);
}

TEST(States, SurviveTheirJson) {
  State state;
  state.settings = {"/k.cu", "/ref.py", {{"N", 8}}, 5, 6, 7, 1.5, "agent", Json::object()};
  state.phase = Phase::Raced;
  state.iter = 2;
  state.has_clock = true;
  state.noise = Noise{0.1, 3, 8};
  state.champion = BestKernel{"b3", 12.5, true, Ratio{1.2, 1.1, 1.3, "FASTER"}};
  state.best = {"iterv1/kernel.cu", "r", "m", "n", 9.75, true, 1, {"memory.vectorized_access"}};
  state.bans = {{"compute.loop_unroll", "ctx", "slow", 1}};
  state.headline = Ratio{2, 1.9, 2.1, "FASTER"};
  const Json json = to_json(state);
  const Result<State> again = state_from_json(json);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again).dump(), json.dump());
  EXPECT_DOUBLE_EQ(again->threshold_pct(), 3);
}

TEST(States, ThresholdIsTheLargerOfWishAndClock) {
  State state;
  state.has_clock = true;
  EXPECT_DOUBLE_EQ(state.threshold_pct(), kLeastEffectPct);
  state.noise = Noise{0.1, 1.2, 8};
  EXPECT_DOUBLE_EQ(state.threshold_pct(), 1.2);
  state.settings.minimum_pct = 4;
  EXPECT_DOUBLE_EQ(state.threshold_pct(), 4);
  state.has_clock = false;
  EXPECT_DOUBLE_EQ(state.threshold_pct(), 4);
  state.settings.minimum_pct = 0;
  EXPECT_DOUBLE_EQ(state.threshold_pct(), kEstimateEffectPct);
}

struct BadState {
  const char* key;
  Json value;
  const char* says;
};

TEST(States, ImpossibleOnesAreRefused) {
  const Json sound = to_json(State());
  const BadState rows[] = {{"phase", "resting", "no phase 'resting'"},
                           {"phase", "opened", "cannot be at iteration 0"},
                           {"iter", 3, "cannot be at iteration 3"},
                           {"iter", -2, "whole numbers"},
                           {"champion", Json::object(), "cannot have a champion"},
                           {"history", 7, "no list 'history'"},
                           {"schema_version", "1", "version -1"}};
  for (const BadState& row : rows) {
    Json json = sound;
    const Result<State> state = state_from_json(json.set(row.key, row.value));
    ASSERT_FALSE(state) << row.key;
    EXPECT_NE(state.error().message.find(row.says), std::string::npos) << state.error().message;
  }
  EXPECT_FALSE(state_from_json(Json::array()));
}

}  // namespace
}  // namespace kw::optimize
