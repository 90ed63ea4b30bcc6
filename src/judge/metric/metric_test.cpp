#include "metric/metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ports/bound.h"
#include "tensor/convert.h"

namespace kw::metric {

namespace {

using ports::Truth;
using tensor::DType;
using tensor::HostTensor;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

HostTensor floats(DType dtype, const std::vector<double>& values) {
  HostTensor tensor{dtype, {static_cast<int64_t>(values.size())}, {}};
  tensor.data.resize(values.size() * static_cast<size_t>(tensor::dtype_size(dtype)));
  tensor::store_floats(tensor, 0, values);
  return tensor;
}

HostTensor integers(DType dtype, const std::vector<int64_t>& values) {
  HostTensor tensor{dtype, {static_cast<int64_t>(values.size())}, {}};
  tensor.data.resize(values.size() * static_cast<size_t>(tensor::dtype_size(dtype)));
  for (size_t i = 0; i < values.size(); ++i)
    tensor::store_int(tensor, static_cast<int64_t>(i), values[i]);
  return tensor;
}

Truth truth_of(DType dtype, const std::vector<double>& values, float a = 0, float h = 0) {
  Truth truth;
  truth.name = "y";
  truth.dtype = dtype;
  truth.shape = {static_cast<int64_t>(values.size())};
  truth.value = values;
  if (a > 0) truth.a.assign(values.size(), a);
  if (h > 0) truth.h.assign(values.size(), h);
  return truth;
}

Truth whole_numbers(DType dtype, const std::vector<int64_t>& values) {
  Truth truth = truth_of(dtype, {values.begin(), values.end()});
  truth.integers = values;
  return truth;
}

/// One element: the truth, the kernel's value, and whether it must pass.
struct MetricRow {
  const char* name;
  DType dtype;
  double want, got;
  bool pass;
  float a = 0;
  float jump = 0;
  int may_be = 0;  // bits of ports::MayBe; an other value is 10 ± 0.5
  bool exact = false;
  std::optional<double> atol = {}, rtol = {};
  bool flush = false;
  bool moves = false;
};

constexpr int kUp = ports::kMayBeUp, kDown = ports::kMayBeDown, kNanToo = ports::kMayBeNan;
constexpr int kOther = ports::kMayBeOther;
constexpr float kOpen = std::numeric_limits<float>::infinity();

class Element : public testing::TestWithParam<MetricRow> {};

TEST_P(Element, IsJudged) {
  const MetricRow& row = GetParam();
  Truth truth = truth_of(row.dtype, {row.want}, row.a);
  truth.exact = row.exact;
  if (row.jump > 0) truth.jump = {row.jump};
  if (row.may_be != 0) truth.may_overflow = {static_cast<uint8_t>(row.may_be)};
  if ((row.may_be & ports::kMayBeOther) != 0) truth.others = {{0, 10, 0.5}};
  CompareOptions options;
  options.precision.atol = row.atol;
  options.precision.rtol = row.rtol;
  options.precision.flush = row.flush;
  options.moves_only = row.moves;
  const Comparison result = compare(truth, floats(row.dtype, {row.got}), options);
  EXPECT_EQ(result.pass, row.pass) << result.reason;
  EXPECT_EQ(result.reason.empty(), row.pass);
}

TEST(Metric, ErrorsFarBeyondPlainFp32AreALowerPrecision) {
  const std::vector<double> want(100, 1.0), got(100, 1.001);
  Truth truth = truth_of(DType::Fp32, want, 0.01F);  // z is about 1/40
  EXPECT_TRUE(compare(truth, floats(DType::Fp32, got), {}).pass);
  truth.plain_z = 0.002;
  EXPECT_TRUE(compare(truth, floats(DType::Fp32, got), {}).pass) << "12 times";
  truth.plain_z = 0.0005;
  const Comparison result = compare(truth, floats(DType::Fp32, got), {});
  EXPECT_FALSE(result.pass) << "50 times";
  EXPECT_NE(result.reason.find("plain fp32"), std::string::npos) << result.reason;
}

TEST(Metric, AToleranceAsksForNoMoreThanPlainEvaluationsGive) {
  Truth truth = truth_of(DType::Fp32, {1.0}, 0.1F);  // B is about 0.4
  CompareOptions options;
  options.precision.atol = 1e-3;
  const auto passes = [&](double got) {
    return compare(truth, floats(DType::Fp32, {got}), options).pass;
  };
  EXPECT_TRUE(passes(1.0009));
  EXPECT_FALSE(passes(1.03)) << "how far off plain evaluations are is not known";
  truth.plain_max_z = 0.0001;
  EXPECT_FALSE(passes(1.03)) << "plain evaluations keep the tolerance";
  truth.plain_max_z = 0.02;
  EXPECT_TRUE(passes(1.03)) << "they are off by 0.008, and four times that is granted";
  EXPECT_FALSE(passes(1.04));
  truth.plain_max_z = 1;
  EXPECT_FALSE(passes(1.5)) << "B is the limit in any case";
}

INSTANTIATE_TEST_SUITE_P(
    Metric, Element,
    testing::Values(
        // Ordinary values.
        MetricRow{"Equal", DType::Fp32, 1.5, 1.5, true},
        MetricRow{"RoundedTruth", DType::Fp16, 1.00001, 1.0, true},
        MetricRow{"OneUlpBesideRounding", DType::Fp16, 1.0, 1.0009765625, false},
        MetricRow{"WithinPath", DType::Fp32, 1.0, 1.000001, true, 1e-6F},
        MetricRow{"BeyondPath", DType::Fp32, 1.0, 1.00001, false, 1e-6F},
        MetricRow{"ZeroForSomething", DType::Fp32, 1.0, 0.0, false, 1e-6F},
        MetricRow{"SubnormalStep", DType::Fp16, 0, 0x1p-24, true},
        MetricRow{"TwoSubnormalSteps", DType::Fp16, 0, 0x1p-23, false},
        MetricRow{"FlushedFp32", DType::Fp32, 0x1p-130, 0, true, 0, 0, 0, false, {}, {}, true},
        MetricRow{"NotFlushedFp32", DType::Fp32, 0x1p-130, 0, false},
        // NaN and infinities.
        MetricRow{"NanForNan", DType::Fp32, kNan, kNan, true},
        MetricRow{"NumberForNan", DType::Fp32, kNan, 1, false},
        MetricRow{"InfinityForNan", DType::Fp32, kNan, kInf, false},
        MetricRow{"NanForNumber", DType::Fp32, 1, kNan, false, 1},
        MetricRow{"NanForInfinity", DType::Fp32, kInf, kNan, false},
        MetricRow{"InfinityForInfinity", DType::Fp32, -kInf, -kInf, true},
        MetricRow{"OtherInfinity", DType::Fp32, kInf, -kInf, false},
        MetricRow{"NumberForInfinity", DType::Fp32, kInf, 3e38, false},
        MetricRow{"InfinityForNumber", DType::Fp32, 3, kInf, false, 1},
        MetricRow{"RoundsToInfinity", DType::Fp16, 70000, kInf, true},
        MetricRow{"LargestInsteadOfInfinity", DType::Fp16, 70000, 65504, false},
        MetricRow{"NearTheEndEither", DType::Fp16, 65519, kInf, true},
        MetricRow{"NearTheEndFinite", DType::Fp16, 65521, 65504, true},
        MetricRow{"NearTheEndOtherSign", DType::Fp16, 65519, -kInf, false},
        MetricRow{"MayOverflow", DType::Fp16, 3, kInf, true, 0, 0, kUp},
        MetricRow{"MayOverflowToNan", DType::Fp16, 3, kNan, true, 0, 0, kNanToo},
        MetricRow{"MayOverflowUpOnly", DType::Fp16, 3, -kInf, false, 0, 0, kUp},
        MetricRow{"MayOverflowNotToNan", DType::Fp16, 3, kNan, false, 0, 0, kUp | kDown},
        MetricRow{"MayOverflowButWrong", DType::Fp16, 3, 5, false, 0, 0, kUp},
        MetricRow{"OtherValue", DType::Fp16, 3, 10.25, true, 0, 0, kOther},
        MetricRow{"BesideTheOtherValue", DType::Fp16, 3, 11, false, 0, 0, kOther},
        MetricRow{"OtherValueForInfinity", DType::Fp16, kInf, 10, true, 0, 0, kOther},
        MetricRow{"AnyValueForInfinity", DType::Fp16, kInf, 1, false, 0, 0, kOther},
        MetricRow{"OtherValueForNan", DType::Fp16, kNan, 10, true, 0, 0, kOther},
        MetricRow{"InfinityForNanByOverflow", DType::Fp32, kNan, kInf, true, 0, 0, kUp},
        MetricRow{"OneWhereTheSquareOverflows", DType::Fp16, 1e6, 1, false, 10},
        MetricRow{"AtAPole", DType::Fp32, 3, 42, true, kOpen},
        MetricRow{"NanAtAPole", DType::Fp32, 3, kNan, true, kOpen},
        MetricRow{"InfinityAtAPole", DType::Fp32, 3, -kInf, true, kOpen},
        MetricRow{"NumberForNanAtAPole", DType::Fp32, kNan, 3, false, kOpen},
        MetricRow{"NumberForInfinityAtAPole", DType::Fp32, kInf, 3, false, kOpen},
        MetricRow{"SaturatesFp8", DType::Fp8e4m3, 1000, 448, true},
        MetricRow{"NanAtFp8Overflow", DType::Fp8e4m3, 1000, kNan, true},
        MetricRow{"OtherSignAtFp8Overflow", DType::Fp8e4m3, 1000, -448, false},
        // Discontinuities.
        MetricRow{"OtherBranch", DType::Fp32, 1, 2, true, 0, 1.0F},
        MetricRow{"BeyondTheOtherBranch", DType::Fp32, 1, 3, false, 0, 1.0F},
        // Exact graphs.
        MetricRow{"ExactEqual", DType::Fp32, 1.25, 1.25, true, 0, 0, 0, true},
        MetricRow{"ExactOneUlp", DType::Fp32, 1, 1 + 0x1p-23, false, 0, 0, 0, true},
        MetricRow{"ExactNan", DType::Fp32, kNan, kNan, true, 0, 0, 0, true},
        MetricRow{"ExactEitherZero", DType::Fp32, -0.0, 0.0, true, 0, 0, 0, true},
        MetricRow{"MovedZeroKeepsItsSign",
                  DType::Fp32,
                  -0.0,
                  0.0,
                  false,
                  0,
                  0,
                  0,
                  true,
                  {},
                  {},
                  false,
                  true},
        MetricRow{"MovedZero", DType::Fp32, -0.0, -0.0, true, 0, 0, 0, true, {}, {}, false, true},
        MetricRow{"ExactFlushed", DType::Fp32, 0x1p-130, 0, true, 0, 0, 0, true, {}, {}, true},
        MetricRow{"ExactJump", DType::Fp32, 1, 2, true, 0, 1.0F, 0, true},
        // The task's atol and rtol.
        MetricRow{"InsideOuter", DType::Fp32, 1, 1.05, true, 0.1F, 0, 0, false, 0.1},
        MetricRow{"OutsideOuter", DType::Fp32, 1, 1.05, false, 0.1F, 0, 0, false, 0.01},
        MetricRow{"OuterRelative", DType::Fp32, 100, 100.5, true, 1, 0, 0, false, {}, 0.01},
        MetricRow{"OuterNeverWidens", DType::Fp32, 1, 1.05, false, 0, 0, 0, false, 10.0},
        MetricRow{"OuterAcceptsTheRoundedTruth", DType::Fp16, 1.0004, 1.0, true, 0, 0, 0, false,
                  1e-9}),
    [](const testing::TestParamInfo<MetricRow>& row) { return row.param.name; });

Truth scored(std::vector<double> scores, int64_t extent, int64_t many, ports::Scores::Rank rank) {
  const auto lines = static_cast<int64_t>(scores.size()) / extent;
  Truth truth =
      whole_numbers(DType::Int64, std::vector<int64_t>(static_cast<size_t>(lines * many)));
  truth.scores.emplace();
  truth.scores->dim = 1;
  truth.scores->extent = extent;
  truth.scores->shape = {lines, extent};
  truth.scores->rank = rank;
  truth.scores->value = std::move(scores);
  return truth;
}

using Rank = ports::Scores::Rank;

struct IndexRow {
  const char* name;
  std::vector<double> scores;
  int64_t extent, many;
  Rank rank;
  std::vector<int64_t> got;
  bool pass;
  float bound = 0;
  bool first_of_ties = false;
  bool largest = true;
  int64_t skip = 0;
  bool nan_first = false;
};

class IndexOutput : public testing::TestWithParam<IndexRow> {};

TEST_P(IndexOutput, IsJudgedByItsScore) {
  const IndexRow& row = GetParam();
  Truth truth = scored(row.scores, row.extent, row.many, row.rank);
  truth.scores->first_of_ties = row.first_of_ties;
  truth.scores->largest = row.largest;
  truth.scores->skip = row.skip;
  truth.scores->nan_first = row.nan_first;
  if (row.bound > 0) truth.scores->bound.assign(row.scores.size(), row.bound);
  const Comparison result = compare(truth, integers(DType::Int64, row.got), {});
  EXPECT_EQ(result.pass, row.pass) << result.reason;
}

INSTANTIATE_TEST_SUITE_P(
    Metric, IndexOutput,
    testing::Values(
        IndexRow{"Best", {1, 5, 3}, 3, 1, Rank::Best, {1}, true},
        IndexRow{"SecondLine", {1, 5, 3, 9, 5, 3}, 3, 1, Rank::Best, {1, 0}, true},
        IndexRow{"NotBest", {1, 5, 3}, 3, 1, Rank::Best, {2}, false},
        IndexRow{"NearlyBest", {1, 5, 4.999}, 3, 1, Rank::Best, {2}, true, 0.001F},
        IndexRow{"TooFarFromBest", {1, 5, 4.99}, 3, 1, Rank::Best, {2}, false, 0.001F},
        IndexRow{"OutOfRange", {1, 5, 3}, 3, 1, Rank::Best, {3}, false, 100},
        IndexRow{"Negative", {1, 5, 3}, 3, 1, Rank::Best, {-1}, false, 100},
        IndexRow{"FirstOfTies", {5, 5, 3}, 3, 1, Rank::Best, {0}, true, 0, true},
        IndexRow{"SecondOfTies", {5, 5, 3}, 3, 1, Rank::Best, {1}, false, 0, true},
        IndexRow{"TieOfRoundedScores", {5, 5, 3}, 3, 1, Rank::Best, {1}, true, 0.1F, true},
        IndexRow{"AnyOfTies", {5, 5, 3}, 3, 1, Rank::Best, {1}, true},
        IndexRow{"Smallest", {1, 5, 3}, 3, 1, Rank::Best, {0}, true, 0, false, false},
        IndexRow{"NanIsLargest", {1, kNan, 3}, 3, 1, Rank::Best, {1}, true},
        IndexRow{"NumberBesideNan", {1, kNan, 3}, 3, 1, Rank::Best, {2}, false},
        IndexRow{"NanWinsArgMin", {1, kNan, 3}, 3, 1, Rank::Best, {1}, true, 0, true, false},
        IndexRow{"TopK", {1, 5, 3, 4}, 4, 2, Rank::Order, {1, 3}, true},
        IndexRow{"TopKUnsorted", {1, 5, 3, 4}, 4, 2, Rank::Order, {3, 1}, false},
        IndexRow{"TopKTwice", {5, 5, 3, 4}, 4, 2, Rank::Order, {1, 1}, false},
        IndexRow{"TopKTiesSwapped", {5, 5, 3, 4}, 4, 2, Rank::Order, {1, 0}, true},
        IndexRow{"SortAll", {2, 1, 3}, 3, 3, Rank::Order, {1, 0, 2}, true, 0, false, false},
        IndexRow{"SortNanLast", {2, kNan, 3}, 3, 3, Rank::Order, {0, 2, 1}, true, 0, false, false},
        IndexRow{"Kth", {4, 1, 3, 2}, 4, 1, Rank::Order, {2}, true, 0, false, false, 2},
        IndexRow{"NotKth", {4, 1, 3, 2}, 4, 1, Rank::Order, {3}, false, 0, false, false, 2},
        IndexRow{"KthOfTies", {4, 1, 3, 3}, 4, 1, Rank::Order, {3}, true, 0, false, false, 1},
        IndexRow{"NanForKth", {4, kNan, 3}, 3, 1, Rank::Order, {1}, true, 0, false, false, 1, true},
        IndexRow{
            "KthBesideNan", {4, kNan, 3}, 3, 1, Rank::Order, {0}, false, 0, false, false, 1, true},
        IndexRow{"PrefixBest", {1, 5, 3}, 3, 3, Rank::Prefix, {0, 1, 1}, true},
        IndexRow{"PrefixFromTheFuture", {1, 5, 3}, 3, 3, Rank::Prefix, {1, 1, 1}, false},
        IndexRow{"PrefixStale", {1, 5, 3}, 3, 3, Rank::Prefix, {0, 1, 2}, false}),
    [](const testing::TestParamInfo<IndexRow>& row) { return row.param.name; });

}  // namespace

TEST(Metric, IntegersMustBeEqual) {
  const Truth truth = whole_numbers(DType::Int64, {(int64_t{1} << 60) + 1, -5});
  EXPECT_TRUE(compare(truth, integers(DType::Int64, {(int64_t{1} << 60) + 1, -5}), {}).pass);
  const Comparison wrong = compare(truth, integers(DType::Int64, {int64_t{1} << 60, -5}), {});
  EXPECT_FALSE(wrong.pass) << "one beside 2^60, which a double cannot tell apart";
  Truth jumps = whole_numbers(DType::Int8, {5, 7});
  jumps.jump = {1, 0};
  EXPECT_TRUE(compare(jumps, integers(DType::Int8, {6, 7}), {}).pass);
  EXPECT_FALSE(compare(jumps, integers(DType::Int8, {5, 8}), {}).pass);
  EXPECT_FALSE(compare(jumps, integers(DType::Int8, {7, 7}), {}).pass);
  Truth all = whole_numbers(DType::Int8, std::vector<int64_t>(64, 5));
  all.jump.assign(64, 1);
  EXPECT_TRUE(compare(all, integers(DType::Int8, std::vector<int64_t>(64, 6)), {}).pass)
      << "the other side of a step says nothing about the precision";
}

TEST(Metric, BoolsAreZeroOrOne) {
  const Truth truth = whole_numbers(DType::Bool, {1, 0});
  EXPECT_TRUE(compare(truth, integers(DType::Bool, {1, 0}), {}).pass);
  EXPECT_FALSE(compare(truth, integers(DType::Bool, {2, 0}), {}).pass) << "true, but not PyTorch's";
}

TEST(Metric, ShapeAndDTypeAreExact) {
  const Truth truth = truth_of(DType::Fp32, {1, 2});
  const Comparison dtype = compare(truth, floats(DType::Fp16, {1, 2}), {});
  EXPECT_FALSE(dtype.pass);
  EXPECT_EQ(dtype.reason, "y: is fp16 where fp32 is expected");
  HostTensor turned = floats(DType::Fp32, {1, 2});
  turned.shape = {2, 1};
  EXPECT_EQ(compare(truth, turned, {}).reason, "y: has shape [2, 1] where [2] is expected");
}

TEST(Metric, WorstElementIsNamed) {
  Truth truth = truth_of(DType::Fp32, std::vector<double>(12, 1.0), 1e-7F);
  truth.shape = {3, 4};
  HostTensor got = floats(DType::Fp32, std::vector<double>(12, 1.0));
  got.shape = {3, 4};
  tensor::set_element(got, 6, 1.5);
  tensor::set_element(got, 9, 1.25);
  const Comparison result = compare(truth, got, {});
  ASSERT_FALSE(result.pass);
  ASSERT_TRUE(result.summary.worst);
  EXPECT_EQ(result.summary.worst->index, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(result.summary.worst->got, 1.5);
  EXPECT_EQ(result.summary.worst->want, 1);
  EXPECT_NEAR(result.summary.worst->ulps, 0.5 / 0x1p-23, 1);
  EXPECT_NEAR(result.summary.worst->z, 0.5 / ports::bound_at(truth, 6, false), 1);
  EXPECT_NE(result.reason.find("y[1, 2]: got 1.5, expected 1"), std::string::npos) << result.reason;
  EXPECT_NE(result.reason.find("2 of 12 elements fail"), std::string::npos) << result.reason;
}

TEST(Metric, ManySmallErrorsFailByTheirRms) {
  // Every element is at 0.7 of its bound. No single one fails, but together they show a lower
  // precision.
  const std::vector<double> ones(1000, 1.0);
  const Truth truth = truth_of(DType::Fp32, ones, 1e-4F);
  const std::vector<double> off(1000, 1.0 + 0.7 * ports::bound_at(truth, 0, false));
  const Comparison result = compare(truth, floats(DType::Fp32, off), {});
  EXPECT_FALSE(result.pass);
  EXPECT_NEAR(result.summary.rms_z, 0.7, 0.01);
  EXPECT_LT(result.summary.max_z, 1);
  EXPECT_NE(result.reason.find("rms z"), std::string::npos);
  // Values that overflow or underflow gives are judged by their own distance.
  Truth underflowing = truth;
  underflowing.may_overflow.assign(1000, ports::kMayBeOther);
  for (int64_t i = 0; i < 1000; ++i) underflowing.others.push_back({i, off[0], 1e-6});
  EXPECT_TRUE(compare(underflowing, floats(DType::Fp32, off), {}).pass);
  // In an output of one element the same distance is one unlucky rounding.
  EXPECT_TRUE(compare(truth_of(DType::Fp32, {1.0}, 1e-4F), floats(DType::Fp32, {off[0]}), {}).pass);
}

TEST(Metric, SubnormalsHaveNoRelativeError) {
  constexpr double kStep = 0x1p-24, kNormal = 0x1p-14;  // of fp16
  const Truth truth = truth_of(DType::Fp16, {1.4 * kStep, 2.4 * kNormal, 0.6 * kStep}, 1e-3f);
  Truth slow = truth;  // a list of jumps selects the general loop
  slow.jump.assign(truth.value.size(), 0.0f);
  const HostTensor got = floats(DType::Fp16, {2 * kStep, 2.5 * kNormal, 0.0});
  for (const Truth& each : {truth, slow})
    EXPECT_NEAR(compare(each, got, {}).summary.max_rel, 0.1 / 2.4, 1e-12);
}

TEST(Metric, SharesBecomeLint) {
  Truth truth = truth_of(DType::Fp32, std::vector<double>(1000, 1.0));
  truth.jump.assign(1000, 0);
  for (size_t i = 0; i < 10; ++i) truth.jump[i] = 1;
  const HostTensor got = floats(DType::Fp32, std::vector<double>(1000, 1.0));
  EXPECT_TRUE(compare(truth, got, {}).lint.empty());
  truth.jump[10] = 1;
  const Comparison result = compare(truth, got, {});
  EXPECT_TRUE(result.pass);
  ASSERT_EQ(result.lint.size(), 1U);
  EXPECT_EQ(result.summary.discontinuous, 11);
}

TEST(Metric, AnUnboundedElementIsNoEvidence) {
  Truth truth = truth_of(DType::Fp32, {1, 2, 3}, 1e-6F);
  truth.a.assign(3, std::numeric_limits<float>::infinity());
  const Comparison result = compare(truth, floats(DType::Fp32, {7, 8, 9}), {});
  EXPECT_TRUE(result.pass);
  EXPECT_FALSE(result.lint.empty());
}

TEST(Metric, EmptyOutputsAreRight) {
  EXPECT_TRUE(compare(truth_of(DType::Fp32, {}), floats(DType::Fp32, {}), {}).pass);
}

TEST(Metric, ThreadsDoNotChangeTheAnswer) {
  const size_t count = 300000;
  std::vector<double> want(count), got(count);
  for (size_t i = 0; i < count; ++i) {
    want[i] = std::sin(static_cast<double>(i)) * 100;
    got[i] = want[i] * (1 + 1e-7 * std::cos(static_cast<double>(i * i % 1000)));
  }
  const Truth truth = truth_of(DType::Fp32, want, 1e-5F);
  const HostTensor tensor = floats(DType::Fp32, got);
  CompareOptions one, many;
  one.threads = 1;
  many.threads = 7;
  const Comparison a = compare(truth, tensor, one), b = compare(truth, tensor, many);
  EXPECT_EQ(a.pass, b.pass);
  EXPECT_EQ(a.summary.max_z, b.summary.max_z);
  EXPECT_EQ(a.summary.worst->index, b.summary.worst->index);
  EXPECT_NEAR(a.summary.rms_z, b.summary.rms_z, 1e-9);
}

}  // namespace kw::metric
