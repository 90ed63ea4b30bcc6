#include "gate/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gate/fakes.h"
#include "inputs/families.h"

namespace kw::gate {

TEST(Pool, SaysWhereARangeOfIndicesIsStated) {
  class Strict : public FakeOracle {
   public:
    Result<std::vector<ports::Truth>> truth(const graph::Graph&,
                                            const std::vector<tensor::HostTensor>&,
                                            const ports::TruthOptions&) override {
      return input_error("index 17 is out of bounds for dimension 1 with size 7");
    }
  };
  const task::Task task = fake_task();
  Strict oracle;
  auto pool = Pool::make(task, oracle, shapes::plan_shapes(task, shapes::virtual_limits()).value(),
                         {}, [] { return Result<uint64_t>(1); });
  ASSERT_TRUE(pool);
  const Result<SetPtr> set = pool->set(0);
  ASSERT_FALSE(set);
  EXPECT_NE(set.error().message.find("hint: say which integers"), std::string::npos);
}

TEST(Pool, KeepsSetsWithinItsBudgetAndMakesTheRestAgain) {
  const task::Task task = fake_task();
  FakeOracle oracle;
  uint64_t drawn = 0;
  const Entropy entropy = [&]() -> Result<uint64_t> { return ++drawn; };
  PoolOptions options;
  auto kept = Pool::make(task, oracle, *shapes::plan_shapes(task, shapes::virtual_limits()),
                         options, entropy);
  ASSERT_TRUE(kept);
  ASSERT_TRUE(kept->prepare());
  const int made = oracle.truths;
  const auto of_candidates =
      std::ranges::count(kept->cells(), inputs::kImmediatesFamily, &PoolCell::family);
  EXPECT_EQ(of_candidates, 3);
  EXPECT_EQ(made, static_cast<int>(kept->cells().size() - 3)) << "but those of candidates";
  EXPECT_EQ(*kept->set(3), *kept->set(3)) << "the same set";
  EXPECT_EQ(oracle.truths, made);
  const uint64_t before = kept->cells()[3].seed;
  ASSERT_TRUE(kept->renew(3, entropy));
  EXPECT_NE(kept->cells()[3].seed, before);
  ASSERT_TRUE(kept->set(3));
  EXPECT_EQ(oracle.truths, made + 1);

  options.max_bytes = 0;
  auto tight = Pool::make(task, oracle, *shapes::plan_shapes(task, shapes::virtual_limits()),
                          options, entropy);
  ASSERT_TRUE(tight->set(0));
  const int again = oracle.truths;
  ASSERT_TRUE(tight->set(0));
  EXPECT_EQ(oracle.truths, again + 1);
}

TEST(Pool, ASeedReplaysAndEntropyDoesNot) {
  const task::Task task = fake_task();
  FakeOracle oracle;
  uint64_t drawn = 0;
  const Entropy entropy = [&]() -> Result<uint64_t> { return ++drawn; };
  PoolOptions options;
  options.seed = 5;
  const auto seeds = [&] {
    std::vector<uint64_t> list;
    auto pool = Pool::make(task, oracle, *shapes::plan_shapes(task, shapes::virtual_limits()),
                           options, entropy);
    for (const PoolCell& cell : pool->cells()) list.push_back(cell.seed);
    return list;
  };
  EXPECT_EQ(seeds(), seeds());
  const auto replayed = seeds();
  EXPECT_EQ(std::set<uint64_t>(replayed.begin(), replayed.end()).size(), replayed.size());
  options.seed.reset();
  EXPECT_NE(seeds(), seeds());
}

TEST(Pool, StructuredInputsTakeTurnsAtEveryQuickShape) {
  const task::Task task = fake_task();
  FakeOracle oracle;
  uint64_t drawn = 1000;
  const auto pool = Pool::make(task, oracle, *shapes::plan_shapes(task, shapes::virtual_limits()),
                               {}, [&]() -> Result<uint64_t> { return drawn += 1000; });
  ASSERT_TRUE(pool);
  std::set<size_t> shapes;
  std::set<uint64_t> turns;
  bool twice = false;
  for (const PoolCell& cell : pool->cells()) {
    if (cell.family != "structured") continue;
    turns.insert(cell.seed % inputs::kStructureTurns);
    twice = !shapes.insert(cell.shape).second || twice;
  }
  EXPECT_GE(turns.size(), 9U);
  EXPECT_TRUE(twice) << "a square input may be the identity";
}

}  // namespace kw::gate
