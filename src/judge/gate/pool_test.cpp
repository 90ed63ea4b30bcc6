#include "gate/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
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
    turns.insert(cell.seed % inputs::kTurns);
    twice = !shapes.insert(cell.shape).second || twice;
  }
  EXPECT_GE(turns.size(), 9U);
  EXPECT_TRUE(twice) << "a square input may be the identity";
}

namespace {

constexpr int kRuns = 30;

/// What a row of floats shows, by name.
void note_structures(const std::vector<double>& v, std::map<std::string, int>* seen) {
  const auto count = v.size();
  const auto zeros = static_cast<size_t>(std::ranges::count(v, 0.0));
  std::vector<double> sizes = v;
  for (double& size : sizes) size = std::fabs(size);
  const auto largest = static_cast<size_t>(std::ranges::max_element(sizes) - sizes.begin());
  const auto filled = static_cast<size_t>(
      std::find_if(sizes.rbegin(), sizes.rend(), [](double size) { return size != 0; }).base() -
      sizes.begin());
  const bool strict = std::set<double>(v.begin(), v.end()).size() == count;
  const auto note = [&](const std::string& name, bool holds) { (*seen)[name] += holds ? 1 : 0; };
  note("ascending", strict && std::ranges::is_sorted(v));
  note("descending", strict && std::ranges::is_sorted(v, std::greater<>()));
  note("one value", v[0] != 1 && v[0] != 0 && std::ranges::count(v, v[0]) == long(count));
  note("ones", v[0] == 1 && std::ranges::count(v, 1.0) == long(count));
  const bool one = zeros == count - 1;
  note("one number, the first", one && largest == 0);
  note("one number, the last", one && largest == count - 1);
  note("one number, elsewhere", one && largest > 0 && largest < count - 1);
  note("padded", filled >= 2 && filled <= count / 2 && zeros == count - filled);
  note("padded before", zeros >= 2 && zeros < count - 1 && sizes[zeros - 1] == 0 &&
                            sizes[zeros] != 0 && filled == count);
  bool alternates = true;
  for (size_t i = 1; i < count; ++i) alternates = alternates && v[i] * v[i - 1] < 0;
  note("alternating", alternates);
  const std::set<double> distinct(v.begin(), v.end());
  note("blocks",
       zeros == 0 && distinct.size() > 1 && distinct.size() <= count / 2 + 1 && !alternates);
  std::ranges::sort(sizes);
  const double less = -std::log10(sizes[count - 2] / sizes.back());
  for (int decade = 3; decade < 7; ++decade)
    note("one large, 10^" + std::to_string(decade), less >= decade && less < decade + 1.02);
}

/// How many rows of the structured cells have each structure. Very long rows take time and show
/// nothing else.
std::map<std::string, int> structures_of(const task::Task& task, const Pool& pool) {
  std::map<std::string, int> seen;
  for (const PoolCell& cell : pool.cells()) {
    const shapes::ShapeCase& shape = pool.shape(cell);
    const int64_t columns = shape.dims.at("D");
    if (cell.family != "structured" || columns < 30 || columns > 300) continue;
    const auto drawn = inputs::draw_inputs(task, shape.graph, shape.dims, cell.family, cell.seed);
    EXPECT_TRUE(drawn);
    std::vector<double> values(static_cast<size_t>(tensor::value_count((*drawn)[0])));
    tensor::load_values((*drawn)[0], 0, values);
    for (auto row = values.begin(); row != values.end(); row += columns)
      note_structures({row, row + columns}, &seen);
  }
  return seen;
}

}  // namespace

// A kernel that is wrong for one kind of rows must not pass by luck.
TEST(Pool, EveryRunHasRowsOfEveryStructure) {
  FakeOracle oracle;
  task::Task few = fake_task(), many = fake_task();
  many.correctness_shapes = {{{"B", 64}, {"D", 32}}};
  many.benchmark_shapes = {{{"B", 256}, {"D", 512}}};
  for (const task::Task& task : {few, many}) {
    std::mt19937_64 random(7);
    const auto plan = shapes::plan_shapes(task, shapes::virtual_limits());
    ASSERT_TRUE(plan);
    std::map<std::string, int> missed;
    for (int run = 0; run < kRuns; ++run) {
      const auto pool =
          Pool::make(task, oracle, *plan, {}, [&]() -> Result<uint64_t> { return random() >> 1; });
      ASSERT_TRUE(pool);
      for (const auto& [name, count] : structures_of(task, *pool)) missed[name] += count == 0;
    }
    EXPECT_GE(missed.size(), 15U);
    for (const auto& [name, runs] : missed)
      EXPECT_EQ(runs, 0) << "of " << kRuns << " runs have none: " << name;
  }
}

}  // namespace kw::gate
