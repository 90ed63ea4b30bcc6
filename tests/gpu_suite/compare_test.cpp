// Comparisons on a real device: a program is not faster than itself, and one percent is seen.
#include <cstdio>

#include "clock/measure.h"
#include "suite.h"

namespace kw::gpu_suite {
namespace {

using clock::Relation;
using kernel::Role;

// The fake driver shares its machine with everything else: there only the mechanics are shown.
#ifdef KW_FAKE_DRIVER
constexpr bool kQuiet = false;
constexpr int kSelfComparisons = 3;
#else
constexpr bool kQuiet = true;
constexpr int kSelfComparisons = 200;
#endif

class Compare : public Suite {
 protected:
  clock::Comparison compare(const Case& candidate, const Case& baseline, uint64_t seed) {
    clock::MeasureOptions options;
    options.rule.max_samples = 80;
    options.rule.relative_noise = 0;  // all of them
    options.batch_samples = 20;
    options.protocol.seed = seed;
    const std::vector<ports::TimedProgram> programs = {
        {load(), &candidate.program, {&candidate.inputs}},
        {load(), &baseline.program, {&baseline.inputs}}};
    auto outcome = clock::measure(device(), programs, options);
    EXPECT_TRUE(outcome.has_value()) << outcome.error().message;
    if (!outcome || outcome->measurements.size() != 2) return {};
    return clock::compare(clock::cycles_of(outcome->measurements[0], outcome->measurements[1], 0));
  }
};

Case copying(int64_t bytes) {
  Case test;
  const int from = test.add("from", Role::Input, bytes / 4);
  const int to = test.add("to", Role::Output, bytes / 4);
  for (int64_t i = 0; i < bytes / 4; ++i)
    test.data<uint32_t>(from)[i] = static_cast<uint32_t>(i) * 2654435761u;
  test.launch("copy16", 1056, 512,
              {pointer(from), pointer(to), value<uint64_t>(static_cast<uint64_t>(bytes / 16))});
  return test;
}

TEST_F(Compare, AProgramIsNotFasterThanItself) {
  // An eighth of a millisecond of memory traffic on an H200; less where there is less memory.
  const int64_t bytes = std::min(int64_t{1} << 28, device().info().memory_bytes / 256) / 16 * 16;
  const Case test = copying(bytes);
  int wrong = 0;
  int same = 0;
  double widest = 0;
  for (int i = 0; i < kSelfComparisons; ++i) {
    const clock::Comparison result = compare(test, test, static_cast<uint64_t>(i) + 1);
    wrong += result.relation == Relation::Faster || result.relation == Relation::Slower;
    same += result.relation == Relation::Same;
    widest = std::max(widest, result.detectable);
  }
  std::printf(
      "measured: A/A %d self-comparisons of a copy: %d false, %d same, least detectable "
      "difference at worst %.2f %%\n",
      kSelfComparisons, wrong, same, 100 * widest);
  if (kQuiet) {
    EXPECT_LE(wrong * 50, kSelfComparisons);
  }
}

TEST_F(Compare, OnePercentOfAMillisecondIsSeen) {
  const clock::Comparison spun = compare(spinning(1'010'000), spinning(1'000'000), 1);
  std::printf("measured: 1.01 ms against 1.00 ms of spinning: %s, speedup %.4f [%.4f, %.4f]\n",
              clock::relation_name(spun.relation), spun.speedup, spun.low, spun.high);
  const int64_t bytes =
      std::min(int64_t{2} << 30, device().info().memory_bytes / 64) / 16000 * 16000;
  const clock::Comparison copied = compare(copying(bytes / 100 * 101), copying(bytes), 1);
  std::printf("measured: a copy of 1 %% more bytes: %s, speedup %.4f [%.4f, %.4f]\n",
              clock::relation_name(copied.relation), copied.speedup, copied.low, copied.high);
  if (!kQuiet) return;
  EXPECT_EQ(spun.relation, Relation::Slower) << spun.why;
  EXPECT_EQ(copied.relation, Relation::Slower) << copied.why;
}

}  // namespace
}  // namespace kw::gpu_suite
