#include "inputs/families.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "core/contains.h"
#include "graph/builder.h"
#include "inputs/fake_task.h"
#include "inputs/graph_constants.h"
#include "inputs/magnitude_window.h"
#include "tensor/convert.h"

namespace kw::inputs {
namespace {

using graph::Operand;
using tensor::DType;

constexpr int64_t kCount = 100000;

/// A task with one input x of a given length.
struct OneInput {
  task::Task task;
  graph::Graph graph;

  explicit OneInput(DType dtype, task::Legal legal = {}) {
    task.inputs = {{.name = "x", .dtype = dtype, .shape = {"N"}, .legal = std::move(legal)}};
    graph::Builder builder;
    const graph::NodeId x = builder.input("x", dtype, {graph::Dim::symbol("N", kCount)});
    graph = std::move(builder).finish({{"y", x}});
  }
  std::vector<double> drawn(const std::string& family, uint64_t seed) const {
    const auto inputs = draw_inputs(task, graph, {{"N", kCount}}, family, seed);
    std::vector<double> values(kCount);
    if (inputs) tensor::load_values((*inputs)[0], 0, values);
    EXPECT_TRUE(inputs) << family;
    return values;
  }
};

double share_of(const std::vector<double>& values, double value) {
  return static_cast<double>(std::count(values.begin(), values.end(), value)) /
         static_cast<double>(values.size());
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

TEST(Families, BoolsAreRareAndCommon) {
  const OneInput bools(DType::Bool);
  EXPECT_NEAR(share_of(bools.drawn("normal", 1), 1), 0.5, 0.02);
  double rare = 0, common = 0;  // one per row on average
  for (uint64_t seed = 0; seed < 20; ++seed) {
    rare += share_of(bools.drawn("spikes", seed), 1) * kCount / 20;
    common += share_of(bools.drawn("heavy", seed), 0) * kCount / 20;
  }
  EXPECT_NEAR(rare, 1, 0.9);
  EXPECT_NEAR(common, 1, 0.9);
  EXPECT_EQ(share_of(bools.drawn("zeros", 1), 1), 0);
  const double alike = share_of(bools.drawn("equal", 1), 1);
  EXPECT_TRUE(alike == 0 || alike == 1);
}

TEST(Families, FreeIntegersLeaveTheNarrowerType) {
  for (const auto& [dtype, beyond] : {std::pair(DType::Int64, 0x1p31),
                                      {DType::Int32, 0x1p15},
                                      {DType::Int16, 0x1p7},
                                      {DType::Int8, 100.0}}) {
    EXPECT_GT(largest_of(OneInput(dtype).drawn("spikes", 3)), beyond);
    EXPECT_LE(largest_of(OneInput(dtype).drawn("normal", 3)), 100);
  }
}

TEST(Families, LegalIntegersStayLegal) {
  task::Legal legal;
  legal.low = 0;
  legal.high = 9;
  for (const std::string& family : all_families()) {
    EXPECT_LE(largest_of(OneInput(DType::Int64, legal).drawn(family, 3)), 9) << family;
  }
}

TEST(Families, SpikesReachBeyondHalvesInEverySecondDraw) {
  int beyond = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    beyond += largest_of(OneInput(DType::Fp32).drawn("probe", seed)) > 65504 ? 1 : 0;
    EXPECT_EQ(largest_of(OneInput(DType::Fp16).drawn("probe", seed)), 1024);
  }
  EXPECT_GT(beyond, 8);
  EXPECT_LT(beyond, 32);
}

TEST(Families, TiesAreFewValuesThatInputsShare) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const std::vector<double> values = OneInput(DType::Fp32).drawn("ties", seed);
    const std::set<double> levels(values.begin(), values.end());
    EXPECT_GE(levels.size(), 2U);
    EXPECT_LE(levels.size(), 17U);
  }
}

TEST(Families, MixedZerosHaveBothSigns) {
  const std::vector<double> values = OneInput(DType::Fp16).drawn("mixed_zeros", 5);
  EXPECT_NEAR(share_of(values, 0), 0.125, 0.01);
  const auto negative =
      std::ranges::count_if(values, [](double value) { return value == 0 && std::signbit(value); });
  EXPECT_NEAR(static_cast<double>(negative) / kCount, 0.0625, 0.01);
}

TEST(Families, FreeIntegersReachTheEndsOfTheirType) {
  const std::vector<double> bytes = OneInput(DType::Int8).drawn("extremes", 1);
  EXPECT_GT(share_of(bytes, -128), 0);
  EXPECT_GT(share_of(bytes, 127), 0);
  EXPECT_GT(share_of(OneInput(DType::Int64).drawn("extremes", 1), -0x1p63), 0.05);
  EXPECT_GT(share_of(OneInput(DType::Uint32).drawn("extremes", 1), 0xffffffff), 0);
}

/// y = f(x, z) over x: fp32[N], z: fp32[N].
struct TwoInputs {
  task::Task task;
  graph::Graph graph;

  template <typename Formula>
  explicit TwoInputs(const Formula& formula, DType dtype = DType::Fp32) {
    const graph::Dim n = graph::Dim::symbol("N", kCount);
    task.inputs = {{.name = "x", .dtype = dtype, .shape = {"N"}, .legal = {}},
                   {.name = "z", .dtype = dtype, .shape = {"N"}, .legal = {}}};
    graph::Builder b;
    const graph::NodeId x = b.input("x", dtype, {n}), z = b.input("z", dtype, {n});
    const graph::NodeId y = formula(b, x, z);
    graph = std::move(b).finish({{"y", y}});
  }
  std::vector<std::vector<double>> drawn(const std::string& family, uint64_t seed,
                                         const Immediates* immediates = nullptr) const {
    const auto inputs = draw_inputs(task, graph, {{"N", kCount}}, family, seed, immediates);
    std::vector<std::vector<double>> values(2, std::vector<double>(kCount));
    EXPECT_TRUE(inputs);
    for (size_t i = 0; inputs && i < 2; ++i) tensor::load_values((*inputs)[i], 0, values[i]);
    return values;
  }
};

graph::NodeId compared(graph::Builder& b, graph::NodeId x, graph::NodeId z) {
  return *b.binary(graph::Op::Le, Operand::tensor(x), Operand::tensor(z));
}

TEST(Families, ComparedInputsHoldEqualElements) {
  const TwoInputs two(compared);
  const auto values = two.drawn("constants", 7);
  int64_t equal = 0, beside = 0;
  for (size_t i = 0; i < kCount; ++i) {
    equal += values[0][i] == values[1][i];
    beside += std::nextafterf(static_cast<float>(values[0][i]), 9) == values[1][i];
  }
  EXPECT_NEAR(static_cast<double>(equal) / kCount, 0.094, 0.02);
  EXPECT_GT(beside, 100);
  // Few distinct values are shared by the inputs of a cell.
  const auto ties = two.drawn("ties", 7);
  const std::set<double> x(ties[0].begin(), ties[0].end()), z(ties[1].begin(), ties[1].end());
  EXPECT_TRUE(std::ranges::any_of(x, [&](double value) { return z.count(value) != 0; }));
}

TEST(Families, ThresholdsArePlantedWithTheirNeighbours) {
  const float threshold = 0.7F;
  const TwoInputs two([&](graph::Builder& b, graph::NodeId x, graph::NodeId) {
    return *b.binary(graph::Op::Le, Operand::tensor(x), Operand::of(double{threshold}));
  });
  const GraphConstants found = constants_of(two.graph);
  EXPECT_EQ(found.of_input[0].numbers, std::vector<double>{threshold});
  EXPECT_TRUE(found.of_input[1].numbers.empty());
  const std::vector<double> x = two.drawn("constants", 3)[0];
  EXPECT_GT(share_of(x, threshold), 0.01);
  EXPECT_GT(share_of(x, -threshold), 0.003);
  EXPECT_GT(share_of(x, std::nextafterf(threshold, 1)), 0.003);
  EXPECT_GT(share_of(x, std::nextafterf(threshold, 0)), 0.003);
}

TEST(Families, ImmediatesOfTheCandidateArePlanted) {
  const TwoInputs two(compared);
  Immediates module;
  module.numbers = {0.731257, 12.5};
  module.compared_numbers = 1;
  const double secret = static_cast<float>(0.731257);
  EXPECT_GT(share_of(two.drawn("immediates", 3, &module)[0], secret), 0.01);
  EXPECT_EQ(share_of(two.drawn("immediates", 3)[0], secret), 0);
}

TEST(Families, ThresholdsAreExtremesOfSomeLines) {
  const TwoInputs two(compared);
  Immediates module;
  module.numbers = {0.731257};
  module.compared_numbers = 1;
  const double secret = static_cast<float>(0.731257);
  bool largest = false, smallest = false;
  for (uint64_t seed = 0; seed < 400 && !(largest && smallest); ++seed) {  // one row each
    const std::vector<double> x = two.drawn("immediates", seed, &module)[0];
    largest = largest || *std::ranges::max_element(x) == secret;
    smallest = smallest || *std::ranges::min_element(x) == secret;
  }
  EXPECT_TRUE(largest);
  EXPECT_TRUE(smallest);
}

TEST(Families, MagnitudesFillTheWindowOfTheFormula) {
  const TwoInputs sum([](graph::Builder& b, graph::NodeId x, graph::NodeId z) {
    return *b.binary(graph::Op::Add, Operand::tensor(x), Operand::tensor(z));
  });
  EXPECT_EQ(magnitude_window(sum.task, sum.graph).high, 122);
  EXPECT_EQ(magnitude_window(sum.task, sum.graph).low, -96);
  const TwoInputs product([](graph::Builder& b, graph::NodeId x, graph::NodeId z) {
    return *b.binary(graph::Op::Mul, Operand::tensor(x), Operand::tensor(z));
  });
  EXPECT_EQ(magnitude_window(product.task, product.graph).high, 24);
  const auto alone = single_windows(product.task, product.graph);
  ASSERT_TRUE(alone[0] && alone[1]);
  EXPECT_GT(alone[0]->high, 110);
  EXPECT_TRUE(!single_windows(sum.task, sum.graph)[0]);
  const TwoInputs exponential([](graph::Builder& b, graph::NodeId x, graph::NodeId) {
    return *b.unary(graph::Op::Exp, x);
  });
  EXPECT_LT(magnitude_window(exponential.task, exponential.graph).high, 7);
  double largest = 0, smallest = 1;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const std::vector<double> x = sum.drawn("magnitudes", seed)[0];
    largest = std::max(largest, largest_of(x));
    for (const double value : x) smallest = std::min(smallest, std::fabs(value));
  }
  EXPECT_GT(largest, 0x1p90);
  EXPECT_LT(smallest, 0x1p-90);
}

TEST(Families, MagnitudesAvoidOverflowBelowAndAboveOrdinaryValues) {
  for (const graph::Op op : {graph::Op::Mul, graph::Op::Div}) {
    const TwoInputs scaled(
        [&](graph::Builder& b, graph::NodeId x, graph::NodeId) {
          return op == graph::Op::Mul ? *b.binary(op, Operand::tensor(x), Operand::of(30000.0))
                                      : *b.binary(op, Operand::of(30000.0), Operand::tensor(x));
        },
        tensor::DType::Fp16);
    for (uint64_t seed = 0; seed < 6; ++seed) {
      const std::vector<double> drawn = scaled.drawn("magnitudes", seed)[0];
      for (const double x : drawn) {
        const double y = op == graph::Op::Mul ? x * 30000 : 30000 / x;
        ASSERT_LT(std::fabs(y), 65504) << x;
      }
    }
  }
}

/// Whether the elements of four consecutive cells have every exponent from `low` to below `high`.
void expect_exponents(const OneInput& one, int low, int high) {
  for (uint64_t first = 0; first < 140; first += 7) {
    std::set<int> missing;
    for (int exponent = low; exponent < high; ++exponent) missing.insert(exponent);
    for (uint64_t turn = first; turn < first + 4; ++turn) {
      const auto drawn = draw_inputs(one.task, one.graph, {{"N", 4096}}, "magnitudes",
                                     with_turn(derive_seed(turn, 1), turn));
      ASSERT_TRUE(drawn);
      std::vector<double> values(4096);
      tensor::load_values((*drawn)[0], 0, values);
      for (const double value : values) missing.erase(std::ilogb(value));
    }
    EXPECT_TRUE(missing.empty()) << missing.size() << " from " << *missing.begin() << ", turn "
                                 << first;
  }
}

// A kernel that is wrong for one exponent must not pass by luck.
TEST(Families, AFewMagnitudesHaveEveryExponent) {
  OneInput one(DType::Fp32);
  expect_exponents(one, -126, 128);
  graph::Builder builder;
  const graph::NodeId x = builder.input("x", DType::Fp64, {graph::Dim::symbol("N", 4096)});
  const graph::NodeId square =
      *builder.binary(graph::Op::Mul, Operand::tensor(x), Operand::tensor(x));
  const graph::NodeId sum =
      *builder.binary(graph::Op::Add, Operand::tensor(square), Operand::of(1.0));
  one.graph = std::move(builder).finish({{"y", sum}});
  one.task.inputs[0].dtype = DType::Fp64;
  const auto alone = single_windows(one.task, one.graph);
  ASSERT_TRUE(alone[0]);
  expect_exponents(one, alone[0]->low, alone[0]->high);
}

TEST(Families, LongRowsOfTiesHaveTwoMaxima) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const std::vector<double> v = OneInput(DType::Fp32).drawn("ties", seed);
    const auto most = std::ranges::max_element(v);
    EXPECT_LE(std::ranges::count(v, *most), 2) << seed;
    EXPECT_GE(most - v.begin(), kCount / 4) << seed;
    EXPECT_LE(std::ranges::count(v, *std::ranges::min_element(v)), 2) << seed;
  }
}

TEST(Families, CopiesSeeTheWholeType) {
  for (const auto& [dtype, largest, least] : {std::tuple(DType::Fp32, 0x1p127, 0x1p-124),
                                              {DType::Fp64, 0x1p1020, 0x1p-1000},
                                              {DType::Fp16, 0x1p15, 0x1p-13},
                                              {DType::Bf16, 0x1p127, 0x1p-124}}) {
    double top = 0, low = 1;
    for (uint64_t seed = 0; seed < 12; ++seed) {
      for (const double value : OneInput(dtype).drawn("magnitudes", seed)) {
        ASSERT_TRUE(std::isfinite(value));
        top = std::max(top, std::fabs(value));
        low = std::min(low, std::fabs(value));
      }
    }
    EXPECT_GE(top, largest);
    EXPECT_LE(low, least);
  }
}

TEST(Families, OneFactorAloneIsTinyOrHuge) {
  const TwoInputs product([](graph::Builder& b, graph::NodeId x, graph::NodeId z) {
    return *b.binary(graph::Op::Mul, Operand::tensor(x), Operand::tensor(z));
  });
  int tiny = 0, huge = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto values = product.drawn("magnitudes", seed);
    const double x = largest_of(values[0]), z = largest_of(values[1]);
    EXPECT_TRUE(x < 0x1p60 || z < 0x1p60) << "the product is finite";
    tiny += x < 0x1p-80 || z < 0x1p-80 ? 1 : 0;
    huge += x > 0x1p100 || z > 0x1p100 ? 1 : 0;
  }
  EXPECT_GT(tiny, 3);
  EXPECT_GT(huge, 3);
}

/// The rows of one structured matrix of floats, or of integers from 0.
template <typename Seen>
void structured_rows(int64_t rows, int64_t columns, const Seen& seen) {
  task::Task task;
  task::TensorSpec x;
  x.name = "x";
  task.inputs = {x};
  graph::Builder builder;
  const graph::NodeId node = builder.input(
      "x", DType::Fp32, {graph::Dim::symbol("B", rows), graph::Dim::symbol("D", columns)});
  const graph::Graph graph = std::move(builder).finish({{"y", node}});
  for (uint64_t seed = 0; seed < 24; ++seed) {
    const auto drawn = draw_inputs(task, graph, {{"B", rows}, {"D", columns}}, "structured", seed);
    ASSERT_TRUE(drawn);
    std::vector<double> values(static_cast<size_t>(rows * columns));
    tensor::load_values((*drawn)[0], 0, values);
    seen(values);
  }
}

TEST(Families, StructuredRowsTakeEveryStructure) {
  constexpr size_t kColumns = 100;
  std::map<std::string, int> found;
  structured_rows(12, kColumns, [&](const std::vector<double>& values) {
    for (auto row = values.begin(); row != values.end(); row += kColumns) {
      const std::vector<double> v(row, row + kColumns);
      const auto zeros = std::ranges::count(v, 0.0);
      found["ascending"] += std::ranges::is_sorted(v, std::less_equal<>()) ? 1 : 0;
      found["descending"] += std::ranges::is_sorted(v, std::greater_equal<>()) ? 1 : 0;
      found["one"] += zeros == kColumns - 1 ? 1 : 0;
      found["padded"] += v[0] != 0 && v[kColumns / 2] == 0 && v.back() == 0 && zeros < 98 ? 1 : 0;
      found["ones"] += std::ranges::count(v, 1.0) == kColumns ? 1 : 0;
      bool alternates = true;
      for (size_t i = 0; i < kColumns; ++i) alternates = alternates && (v[i] < 0) == (i % 2 == 1);
      found["alternating"] += alternates ? 1 : 0;
      std::vector<double> sizes = v;
      for (double& size : sizes) size = std::fabs(size);
      std::ranges::sort(sizes);
      found["one large"] += sizes[0] > 0 && sizes[kColumns - 2] < sizes.back() * 1e-5 ? 1 : 0;
      const std::set<double> distinct(v.begin(), v.end());
      found["blocks"] += distinct.size() > 1 && distinct.size() <= 50 && zeros == 0 ? 1 : 0;
    }
  });
  for (const char* name :
       {"ascending", "descending", "one", "padded", "ones", "alternating", "one large", "blocks"})
    EXPECT_GT(found[name], 0) << name;
}

// A kernel that takes a mask for a length is right for random bools.
TEST(Families, StructuredBoolsAreMasksOfSequences) {
  constexpr size_t kColumns = 300;
  task::Task task;
  task::TensorSpec mask;
  mask.name = "mask";
  mask.dtype = DType::Bool;
  task.inputs = {mask};
  graph::Builder builder;
  const graph::NodeId node = builder.input(
      "mask", DType::Bool, {graph::Dim::symbol("B", 200), graph::Dim::symbol("D", kColumns)});
  const graph::Graph graph = std::move(builder).finish({{"y", node}});
  for (uint64_t seed = 0; seed < 16; ++seed) {
    const auto drawn = draw_inputs(task, graph, {{"B", 200}, {"D", kColumns}}, "structured", seed);
    ASSERT_TRUE(drawn);
    std::vector<double> values(200 * kColumns);
    tensor::load_values((*drawn)[0], 0, values);
    int prefixes = 0, causal = 0, before_a_tile = 0, suffixes = 0;
    for (size_t line = 0; line < 200; ++line) {
      const std::vector<double> row(values.begin() + static_cast<ptrdiff_t>(line * kColumns),
                                    values.begin() + static_cast<ptrdiff_t>((line + 1) * kColumns));
      const auto ones = static_cast<size_t>(std::ranges::count(row, 1.0));
      const bool prefix = std::ranges::is_sorted(row, std::greater_equal<>());
      const bool partly = ones > 1 && ones < kColumns - 1;
      prefixes += prefix && partly ? 1 : 0;
      suffixes += partly && std::ranges::is_sorted(row) ? 1 : 0;
      before_a_tile += prefix && partly && ones % 64 == 63 ? 1 : 0;
      causal += prefix && ones == line + 1 ? 1 : 0;
    }
    if (prefixes == 0) continue;  // laid out along the other dim
    EXPECT_GT(prefixes, 30) << seed;
    EXPECT_GT(suffixes, 10) << seed;
    EXPECT_GT(before_a_tile, 0) << seed;
    EXPECT_GT(causal, 0) << seed;
  }
}

TEST(Families, SquareMatricesAreOftenTheIdentity) {
  int identities = 0;
  structured_rows(9, 9, [&](const std::vector<double>& values) {
    bool identity = true;
    for (size_t i = 0; i < values.size(); ++i)
      identity = identity && values[i] == (i % 10 == 0 ? 1 : 0);
    identities += identity ? 1 : 0;
  });
  EXPECT_GE(identities, 3);
}

TEST(Families, StructuredIndicesAreOrderedAndRepeat) {
  task::Legal legal;
  legal.low = 0;
  legal.high = 499;
  int ordered = 0, backwards = 0, runs = 0, last = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const std::vector<double> v = OneInput(DType::Int64, legal).drawn("structured", seed);
    bool is_ordered = true, is_backwards = true;
    for (size_t i = 0; i < 12; ++i) {
      is_ordered = is_ordered && v[i] == static_cast<double>(i);
      is_backwards = is_backwards && v[i] == v[0] - static_cast<double>(i);
    }
    ordered += is_ordered ? 1 : 0;
    backwards += is_backwards ? 1 : 0;
    runs += v[0] == v[1] && v[1] != v[70] ? 1 : 0;
    last += v[0] == 499 && v[1] == 499 ? 1 : 0;
  }
  EXPECT_GT(ordered, 1);
  EXPECT_GT(backwards, 1);
  EXPECT_GT(runs, 1);
  EXPECT_GT(last, 0);
}

TEST(Families, BoolsAreCountedAsTheCodeDoes) {
  const int64_t rows = 40, columns = 200;
  task::Task task;
  task.inputs = {{.name = "x", .dtype = DType::Bool, .shape = {"B", "D"}, .legal = {}}};
  graph::Builder builder;
  const graph::NodeId x = builder.input(
      "x", DType::Bool, {graph::Dim::symbol("B", rows), graph::Dim::symbol("D", columns)});
  const graph::Graph graph = std::move(builder).finish({{"y", x}});
  Immediates module;
  module.integers = {11, 5000};
  const auto drawn =
      draw_inputs(task, graph, {{"B", rows}, {"D", columns}}, "immediates", 3, &module);
  ASSERT_TRUE(drawn);
  int found = 0;
  for (int64_t row = 0; row < rows; ++row) {
    int count = 0;
    for (int64_t i = 0; i < columns; ++i)
      count += tensor::get_element((*drawn)[0], row * columns + i) != 0 ? 1 : 0;
    found += count == 11 ? 1 : 0;
  }
  EXPECT_GT(found, 8);
}

TEST(Families, ExtremesReachTheMiddleOfTheType) {
  const std::vector<double> values = OneInput(DType::Int64).drawn("extremes", 2);
  const auto medium =
      std::ranges::count_if(values, [](double value) { return value > 1e6 && value < 1e9; });
  EXPECT_GT(medium, kCount / 100);
}

TEST(Families, AMixHasAFamilyPerRun) {
  std::set<size_t> kinds;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const std::vector<double> values = OneInput(DType::Fp32).drawn("mix", seed);
    for (size_t run = 0; run + 256 <= values.size(); run += 256) {
      const std::set<double> distinct(values.begin() + static_cast<long>(run),
                                      values.begin() + static_cast<long>(run + 256));
      kinds.insert(distinct.size() < 20 ? 0 : distinct.size() > 250 ? 2 : 1);
    }
  }
  EXPECT_GE(kinds.size(), 2U) << "runs of few values beside runs of many";
}

TEST(Families, BytesDependOnSeedAndPlaceOnly) {
  const OneInput one(DType::Fp32);
  const auto bytes = [&](const std::string& family, uint64_t seed) {
    return draw_inputs(one.task, one.graph, {{"N", kCount}}, family, seed).value()[0].data;
  };
  for (const std::string& family : all_families()) {
    EXPECT_TRUE(bytes(family, 9) == bytes(family, 9)) << family;
    if (family == "sorted" || family == "equal") continue;
    EXPECT_FALSE(bytes(family, 9) == bytes(family, 10)) << family;
  }
}

TEST(Families, ARangeWithoutAValueIsAnError) {
  task::Legal legal;
  legal.low = 5;
  legal.below = "N";
  OneInput one(DType::Int64, legal);
  const auto drawn = draw_inputs(one.task, one.graph, {{"N", 3}}, "normal", 1);
  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().message,
            "input 'x' has no legal value where N = 3: the lowest is 5, the highest 2");
  EXPECT_FALSE(check_legal(one.task, one.graph, {{"N", 3}}));
  EXPECT_TRUE(check_legal(one.task, one.graph, {{"N", 6}}));
}

}  // namespace
TEST(Families, OffsetHasALargeMean) {
  const task::Task task = fake_task();
  const graph::Graph graph = *task.reference->trace({{"B", 64}, {"D", 256}});
  const auto drawn = draw_inputs(task, graph, {{"B", 64}, {"D", 256}}, "offset", 11);
  ASSERT_TRUE(drawn);
  std::vector<double> values(64 * 256);
  tensor::load_values((*drawn)[0], 0, values);
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(values.size()));
  EXPECT_GE(std::abs(mean) / deviation, 2000);
}

TEST(Families, ProbeHasOneElementThatDwarfsTheRest) {
  const task::Task task = fake_task();
  const graph::Graph graph = *task.reference->trace({{"B", 8}, {"D", 64}});
  std::set<int64_t> places;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const auto drawn = draw_inputs(task, graph, {{"B", 8}, {"D", 64}}, "probe", seed);
    ASSERT_TRUE(drawn);
    int large = 0;
    for (int64_t i = 0; i < 512; ++i) {
      if (std::abs(tensor::get_element((*drawn)[0], i)) < 100) continue;
      ++large;
      places.insert(i);
    }
    EXPECT_EQ(large, 1);
  }
  EXPECT_GT(places.size(), 5U) << "at places that cannot be guessed";
}

TEST(Families, LegalValuesStayLegal) {
  task::Task task = fake_task();
  task.inputs[0].legal.positive = true;
  const task::Dims dims = {{"B", 16}, {"D", 64}};
  const graph::Graph graph = *task.reference->trace(dims);
  for (const std::string& family : families_for(task)) {
    const auto drawn = draw_inputs(task, graph, dims, family, 3);
    ASSERT_TRUE(drawn);
    for (int64_t i = 0; i < 1024; ++i) ASSERT_GT(tensor::get_element((*drawn)[0], i), 0) << family;
  }
  task.inputs[0].legal = {};
  task.inputs[0].legal.float_low = -0.5;
  task.inputs[0].legal.float_high = 0.5;
  for (const std::string& family : families_for(task)) {
    const auto drawn = draw_inputs(task, graph, dims, family, 3);
    for (int64_t i = 0; i < 1024; ++i)
      ASSERT_LE(std::abs(tensor::get_element((*drawn)[0], i)), 0.5) << family;
  }
  EXPECT_FALSE(draw_inputs(task, graph, dims, "norml", 3));
}

TEST(Families, SpecialValuesOnlyWhereTheyPropagate) {
  task::Task task = fake_task();
  const auto has = [&](const std::string& name) {
    const auto names = families_for(task);
    return contains(names, name);
  };
  EXPECT_FALSE(has("special"));
  EXPECT_TRUE(has("denormal"));
  task.precision.nan = task::NanPolicy::Propagate;
  task.precision.flush = true;
  EXPECT_TRUE(has("special"));
  EXPECT_FALSE(has("denormal"));
  task.inputs[0].dtype = tensor::DType::Int64;
  EXPECT_FALSE(has("offset"));
  EXPECT_FALSE(has("special"));
}

}  // namespace kw::inputs
