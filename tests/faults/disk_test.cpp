// Random faults of the disk under a run: sessions die or stop one after another, each at another
// operation in another way, reopening included. What was acknowledged is there afterwards.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>

#include "core/random.h"
#include "os/files.h"
#include "share.h"
#include "store/fault_disk.h"
#include "store/run.h"
#include "store/test_folder.h"

namespace kw::faults {
namespace {

using StoredRun = store::Run;

constexpr int kCandidates = 3;
constexpr int kOperations = 60;  // about as many as a whole session has

record::Candidate nth(int number) {
  return record::make_candidate(fmt::format("// candidate {}\n", number), {}, "builtin", "rows",
                                {});
}

Json verdict_of(int number) {
  return Json::object().set("verdict", number % 2 == 0 ? "passed" : "wrong").set("n", number);
}

using Verdicts = std::map<std::string, std::string>;  // acknowledged, by id

Status work(StoredRun& run, Verdicts& kept) {
  for (int number = 0; number < kCandidates; ++number) {
    const record::Candidate one = nth(number);
    if (!run.judgement(one.id).is_null()) continue;
    KW_TRY(run.add(one));
    KW_TRY(run.judged(one.id, verdict_of(number)));
    kept[one.id] = verdict_of(number).dump();
    KW_TRY(run.timed(one.id, Json::object().set("us", number)));
    KW_TRY(run.checkpoint(Json::object().set("next", number + 1)));
  }
  return run.finish(Json::object().set("passed", true), {"cu", "ptx", "cubin", "readme"});
}

Result<StoredRun> begin(const std::string& folder, os::Disk& disk) {
  if (os::exists(folder + "/run.json")) return StoredRun::open(folder, store::Access::Write, disk);
  store::RunInputs in;
  in.name = "cut";
  in.reference = "def f(x): return x\n";
  in.spec = in.config = in.env = Json::object();
  return StoredRun::create({"", folder}, in, disk);
}

void expect_kept(const StoredRun& run, const Verdicts& kept) {
  EXPECT_EQ(run.damage(), std::vector<std::string>{});
  for (const auto& [id, verdict] : kept) EXPECT_EQ(run.judgement(id).dump(), verdict) << id;
}

TEST(FaultsOfTheDisk, LoseNothingThatWasAcknowledged) {
  const int all = share_of_faults(0.3);
  int injected = 0;
  for (uint64_t seed = 0; injected < all; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed + 1);
    const store::TestFolder root;
    const std::string folder = root.path() + "/run";
    Verdicts kept;
    const uint64_t sessions = 1 + random.below(3);
    for (uint64_t session = 0; session < sessions; ++session, ++injected) {
      store::FaultDisk disk(static_cast<int>(random.below(kOperations)),
                            static_cast<store::Cut>(random.below(4)));
      Result<StoredRun> run = begin(folder, disk);
      const Status ended = run ? work(*run, kept) : Status(run.error());
      if (ended) continue;  // it came to its end before the fault
      EXPECT_EQ(ended.error().blame, Blame::Environment) << ended.error().message;
      EXPECT_FALSE(ended.error().message.empty());
    }
    store::FaultDisk sound;
    Result<StoredRun> run = begin(folder, sound);
    ASSERT_TRUE(run) << run.error().message;
    expect_kept(*run, kept);
    ASSERT_TRUE(work(*run, kept));
    EXPECT_EQ(run->report()["storage"]["judged"].as_int(), kCandidates);
    expect_kept(*run, kept);
    EXPECT_TRUE(os::glob(folder + "/*.tmp-*").empty() && os::glob(folder + "/*/*.tmp-*").empty());
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace kw::faults
