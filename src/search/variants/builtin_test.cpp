#include "variants/builtin.h"

#include <gtest/gtest.h>

#include <set>

#include "core/check.h"
#include "core/hash.h"

namespace kw::variants {
namespace {

std::string module_text(const std::string& kernel) {
  return "//! kernelwright 1\n//! task t\n//! input x: fp32[N]\n//! output y: fp32[N]\n"
         "//! tune THREADS in 128, 256, 512\n//! tune VEC in 4, 2, 1 where VEC * THREADS <= 1024\n"
         "//! launch " +
         kernel + " grid(N) block(THREADS) args(x, y)\n__global__ void " + kernel +
         "(const float* x, float* y);\n";
}

std::vector<Recipe> recipes(int count) {
  std::vector<Recipe> made;
  for (int i = 0; i < count; ++i) {
    const std::string name = "kernel" + std::to_string(i);
    made.push_back({name, [name] { return Result<std::string>(module_text(name)); }});
  }
  return made;
}

std::vector<record::Candidate> offer(Builtin& proposer, size_t count,
                                     const halving::Archive& archive) {
  auto made = proposer.propose(count, archive);
  EXPECT_TRUE(made) << made.error().message;
  return made ? std::move(made).value() : std::vector<record::Candidate>{};
}

std::vector<std::string> ids(const std::vector<record::Candidate>& candidates) {
  std::vector<std::string> out;
  for (const record::Candidate& one : candidates) out.push_back(one.id);
  return out;
}

TEST(Builtin, GuessesOfEveryRecipeComeFirst) {
  Builtin proposer(recipes(3), 1);
  halving::Archive archive;
  const auto first = proposer.propose(3, archive);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->size(), 3u);
  EXPECT_EQ((*first)[0].origin, "kernel0");
  EXPECT_EQ((*first)[2].origin, "kernel2");
  EXPECT_EQ((*first)[0].tunes, (std::map<std::string, int64_t>{{"THREADS", 128}, {"VEC", 4}}));
  EXPECT_EQ((*first)[0].proposer, "builtin");
}

TEST(Builtin, ThenNeighboursOfTheBest) {
  Builtin proposer(recipes(2), 1);
  halving::Archive archive;
  const auto guesses = offer(proposer, 2, archive);
  for (const record::Candidate& one : guesses) {
    archive.note(one, ports::Outcome::estimate(one.origin == "kernel1" ? 1 : 2, false));
  }
  const auto next = offer(proposer, 1, archive);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].origin, "kernel1");
  EXPECT_EQ(next[0].parents, std::vector<std::string>{guesses[1].id});
  int changed = 0;
  for (const auto& [name, value] : next[0].tunes) changed += guesses[1].tunes.at(name) != value;
  EXPECT_EQ(changed, 1);
}

TEST(Builtin, ChildrenHaveTheirParentsChoicesAndTunables) {
  const auto named = [](const std::string& name) {
    return Recipe{name, [name] { return Result<std::string>(module_text("k" + hash_hex(name))); }};
  };
  Builtin proposer({named("a=x b=x"), named("a=y b=x"), named("a=x b=y")}, 1, named);
  halving::Archive archive;
  const std::map<std::string, std::map<std::string, int64_t>> good = {
      {"a=y b=x", {{"THREADS", 512}, {"VEC", 2}}}, {"a=x b=y", {{"THREADS", 256}, {"VEC", 1}}}};
  bool crossed = false;
  for (int round = 0; round < 40 && !crossed; ++round) {
    for (record::Candidate& one : offer(proposer, 2, archive)) {
      const auto best = good.find(one.origin);
      const bool is_best = best != good.end() && best->second == one.tunes;
      if (one.parents.size() == 2) {
        EXPECT_NE(one.parents[0], one.parents[1]);
        if (one.origin == "a=y b=y") {
          crossed = true;
          for (const auto& [axis, value] : one.tunes) {
            EXPECT_TRUE(value == archive.at(one.parents[0]).candidate.tunes.at(axis) ||
                        value == archive.at(one.parents[1]).candidate.tunes.at(axis));
          }
        }
      }
      ASSERT_FALSE(archive.contains(one.id)) << "offered twice";
      archive.note(one, ports::Outcome::estimate(is_best ? 1 : 2, false));
    }
  }
  EXPECT_TRUE(crossed) << "no recipe came of two others";
}

TEST(Builtin, TheWholeSpaceOnceAndThenNothing) {
  Builtin proposer(recipes(2), 9);
  halving::Archive archive;
  size_t total = 0;
  while (true) {
    const auto batch = offer(proposer, 3, archive);
    if (batch.empty()) break;
    for (const record::Candidate& one : batch) {
      EXPECT_TRUE(archive.add(one)) << "offered twice";
      EXPECT_LE(one.tunes.at("VEC") * one.tunes.at("THREADS"), 1024);
      archive.note(one, ports::Outcome::estimate(static_cast<double>(++total), false));
    }
  }
  EXPECT_EQ(total, 2 * 8u);
}

TEST(Builtin, TheSeedDecidesTheOrderAndNothingElse) {
  std::vector<std::string> orders[3];
  for (int i = 0; i < 3; ++i) {
    Builtin proposer(recipes(2), i == 2 ? 8 : 7);
    halving::Archive archive;
    for (const record::Candidate& one : offer(proposer, 16, archive)) {
      archive.add(one);
      orders[i].push_back(one.id);
    }
  }
  EXPECT_EQ(orders[0], orders[1]);
  EXPECT_NE(orders[0], orders[2]);
  EXPECT_EQ(std::set(orders[0].begin(), orders[0].end()),
            std::set(orders[2].begin(), orders[2].end()));
}

TEST(Builtin, AFreshOneSkipsWhatTheArchiveKnows) {
  halving::Archive archive;
  Builtin first(recipes(2), 3);
  for (const record::Candidate& one : offer(first, 5, archive)) archive.add(one);
  Builtin second(recipes(2), 3);
  const auto rest = offer(second, 100, archive);
  EXPECT_EQ(rest.size(), 16 - 5u);
  for (const std::string& id : ids(rest)) EXPECT_FALSE(archive.contains(id));
}

TEST(Builtin, ARecipeThatIsNoModuleIsAProblemNotAnEnd) {
  std::vector<Recipe> some = recipes(1);
  some.insert(some.begin(), {"broken", [] { return Result<std::string>("not a module"); }});
  some.insert(some.begin(), {"buggy", []() -> Result<std::string> {
                               KW_CHECK(false, "this recipe is well made");
                               return std::string();
                             }});
  Builtin proposer(some, 1);
  halving::Archive archive;
  EXPECT_EQ(offer(proposer, 1, archive).at(0).origin, "kernel0");
  ASSERT_EQ(proposer.problems().size(), 2u);
  EXPECT_EQ(proposer.problems()[0].rfind("buggy: ", 0), 0u);
  EXPECT_EQ(proposer.problems()[1].rfind("broken: ", 0), 0u);
}

}  // namespace
}  // namespace kw::variants
