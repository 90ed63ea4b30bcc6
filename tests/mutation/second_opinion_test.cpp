// The second opinion on single elements, against values worked out by hand or to 25 digits by
// another program, and what it refuses.
#include "second_opinion.h"

#include <gtest/gtest.h>

#include <cmath>

#include "truth/test_graph.h"

namespace kw::mutation {
namespace {

using graph::NodeId;
using graph::Op;
using tensor::DType;
using truth::floats;
using truth::integers;
using truth::TestGraph;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

WideTensor only(Result<std::vector<WideTensor>> got) {
  if (!got) ADD_FAILURE() << got.error().message;
  return got ? (*got)[0] : WideTensor{DType::Fp32, {1}, {0}, {0}};
}
WideTensor wide(TestGraph& g, NodeId y) { return only(second_opinion(g.finish({y}), g.inputs())); }
WideTensor rounded(TestGraph& g, NodeId y) {
  return only(rounded_opinion(g.finish({y}), g.inputs()));
}
std::string refusal(TestGraph& g, NodeId y) {
  const auto got = second_opinion(g.finish({y}), g.inputs());
  return got ? "" : got.error().message;
}

NodeId number(TestGraph& g, DType type, double x) { return g.input(floats(type, {1}, {x})); }
NodeId whole(TestGraph& g, DType type, int64_t x) { return g.input(integers(type, {1}, {x})); }

struct OfOne {
  Op op;
  double x;
  long double want;
};

const OfOne kFunctions[] = {
    {Op::Sqrt, 2.0, 1.414213562373095048801689L},
    {Op::Rsqrt, 3.0, 0.5773502691896257645091488L},
    {Op::Reciprocal, -0.75, -1.333333333333333333333333L},
    {Op::Exp, 1.0, 2.718281828459045235360287L},
    {Op::Exp, -20.5, 1.250152866386742628937553e-9L},
    {Op::Exp2, -3.25, 0.1051120519067143178788907L},
    {Op::Expm1, 0x1p-20, 0.0000009536747711537454467882496L},
    {Op::Expm1, -1.5, -0.7768698398515701710667195L},
    {Op::Log, 10.0, 2.302585092994045684017991L},
    {Op::Log2, 3.0, 1.584962500721156181453739L},
    {Op::Log10, 1234.5, 3.091491094267951081848997L},
    {Op::Log1p, 0x1p-20, 0.0000009536738616591882339084155L},
    {Op::Sin, 1.0, 0.8414709848078965066525023L},
    {Op::Sin, 100.0, -0.5063656411097587936565576L},
    {Op::Cos, -50.5, 0.972626564974492183812868L},
    {Op::Tan, 1.5, 14.10141994717171938764608L},
    {Op::Asin, -0.875, -1.065435816510739312260007L},
    {Op::Acos, 0.25, 1.318116071652817965745664L},
    {Op::Atan, 2.0, 1.107148717794090503017065L},
    {Op::Sinh, 1.0, 1.175201193643801456882382L},
    {Op::Cosh, -3.5, 16.57282467105731612569652L},
    {Op::Tanh, 0.5, 0.4621171572600097585023185L},
    {Op::Asinh, -100.0, -5.298342365610588757368826L},
    {Op::Acosh, 1.5, 0.9624236501192068949955178L},
    {Op::Atanh, -0.9375, -1.716993602242573122964582L},
    {Op::Erf, 0.5, 0.5204998778130465376827467L},
    {Op::Erfc, 3.0, 0.00002209049699858544137277613L},
    {Op::Erfcx, -2.0, 108.9409043899779724123554L},
    {Op::Erfcx, 1.0, 0.4275835761558070044107503L},
    {Op::Erfcx, 2.0, 0.2553956763105057438650886L},
    {Op::Erfcx, 50.0, 0.01128153626532377250018381L},
    {Op::Erfinv, 0x1p-10, 0.000865456197967137553451212L},
    {Op::Erfinv, 0.5, 0.4769362762044698733814184L},
    {Op::Erfinv, -0.75, -0.8134198475976185416902894L},
    {Op::Erfinv, 1 - 0x1p-20, 3.465505025803330717256204L},
    {Op::Lgamma, 0.5, 0.5723649429247000870717137L},
    {Op::Lgamma, -1.5, 0.8600470153764810145109327L},
    {Op::Lgamma, 20.25, 40.08411059791734898397077L},
    {Op::Digamma, 0.25, -4.22745353337626540808953L},
    {Op::Digamma, 100.0, 4.600161852738087400198606L},
    {Op::Digamma, -0.5, 0.03648997397857652055902367L},
    {Op::Digamma, -3.75, -1.692388598311330343154465L},
    {Op::Digamma, -0x1p-40, 1099511627775.422784335097L},
    {Op::Digamma, -0x1p-100, 1.267650600228229401496703e+30L},
    {Op::Sigmoid, 2.0, 0.8807970779778824440597291L},
    {Op::Sigmoid, -30.0, 9.357622968839298953839563e-14L},
};

TEST(SecondOpinion, FunctionsAreRightToSeventeenDigits) {
  for (const OfOne& one : kFunctions) {
    TestGraph g;
    const WideTensor y = wide(g, g.add(one.op, {number(g, DType::Fp64, one.x)}, {}));
    const long double miss = std::fabs(y.value[0] - one.want);
    EXPECT_LE(miss, 1e-17L * std::fabs(one.want)) << op_info(one.op).name << " of " << one.x;
  }
}

const OfOne kSteps[] = {
    {Op::Neg, 1.5, -1.5L},
    {Op::Abs, -1.5, 1.5L},
    {Op::Sign, -3, -1},
    {Op::Sign, 0, 0},
    {Op::Sign, kNan, 0},
    {Op::Floor, -1.5, -2},
    {Op::Ceil, -1.5, -1},
    {Op::Trunc, -1.5, -1},
    {Op::Round, 2.5, 2},
    {Op::Round, -3.5, -4},
    {Op::Log, 0, -kInf},
    {Op::Rsqrt, 0, kInf},
    {Op::Reciprocal, -0.0, -kInf},
    {Op::Erfcx, -kInf, kInf},
    {Op::Erfcx, kInf, 0},
    {Op::Erfinv, -1, -kInf},
    {Op::Digamma, 0, -kInf},
    {Op::Digamma, -0.0, kInf},
    {Op::Lgamma, -2, kInf},
    {Op::Sigmoid, -kInf, 0},
    {Op::Exp, -kInf, 0},
};
const OfOne kUndefined[] = {
    {Op::Sqrt, -1, 0},   {Op::Log, -1, 0},   {Op::Erfinv, 1.5, 0}, {Op::Digamma, -2, 0},
    {Op::Acosh, 0.5, 0}, {Op::Sin, kInf, 0}, {Op::Floor, kNan, 0},
};

TEST(SecondOpinion, StepsPolesAndDomains) {
  for (const OfOne& one : kSteps) {
    TestGraph g;
    EXPECT_EQ(wide(g, g.add(one.op, {number(g, DType::Fp32, one.x)}, {})).value[0], one.want)
        << op_info(one.op).name << " of " << one.x;
  }
  for (const OfOne& one : kUndefined) {
    TestGraph g;
    EXPECT_TRUE(std::isnan(wide(g, g.add(one.op, {number(g, DType::Fp32, one.x)}, {})).value[0]))
        << op_info(one.op).name << " of " << one.x;
  }
}

struct OfTwo {
  Op op;
  double x, z, want;
};

const OfTwo kPairs[] = {
    {Op::Add, 0.5, 0.25, 0.75},
    {Op::Sub, 0.5, 2, -1.5},
    {Op::Mul, 3, -0.5, -1.5},
    {Op::Div, 3, -4, -0.75},
    {Op::Div, 1, 0, kInf},
    {Op::Div, 0, 0, kNan},
    {Op::Pow, -2, 3, -8},
    {Op::Pow, -2, 0.5, kNan},
    {Op::Pow, 0, -1, kInf},
    {Op::Atan2, 0, 1, 0},
    {Op::Fmod, -7, 2, -1},
    {Op::Fmod, 7, kInf, 7},
    {Op::Remainder, -7, 2, 1},
    {Op::Remainder, 7, -2, -1},
    {Op::Remainder, 6, -2, 0},
    {Op::Remainder, 1, 0, kNan},
    {Op::FloorDiv, -7, 2, -4},
    {Op::FloorDiv, 7, 0, kInf},
    {Op::FloorDiv, 1, -kInf, -1},
    {Op::Copysign, 3, -0.0, -3},
    {Op::Hypot, 3, -4, 5},
    {Op::Hypot, kInf, kNan, kInf},
    {Op::Maximum, 1, 2, 2},
    {Op::Maximum, kNan, 2, kNan},
    {Op::Minimum, 1, 2, 1},
    {Op::Minimum, 1, kNan, kNan},
    {Op::Fmax, kNan, 2, 2},
    {Op::Fmin, 1, kNan, 1},
    {Op::Eq, 1, 1, 1},
    {Op::Eq, kNan, kNan, 0},
    {Op::Ne, kNan, kNan, 1},
    {Op::Lt, 1, 2, 1},
    {Op::Le, 2, 2, 1},
    {Op::Gt, -kInf, 2, 0},
    {Op::Ge, 2, kNan, 0},
};

TEST(SecondOpinion, FunctionsOfTwo) {
  for (const OfTwo& one : kPairs) {
    TestGraph g;
    const NodeId x = number(g, DType::Fp32, one.x), z = number(g, DType::Fp32, one.z);
    const long double y = wide(g, g.add(one.op, {x, z}, {})).value[0];
    EXPECT_TRUE(std::isnan(one.want) ? std::isnan(y) : y == one.want)
        << op_info(one.op).name << " of " << one.x << " and " << one.z << ": " << y;
  }
}

struct OfIntegers {
  Op op;
  DType type;
  int64_t x, z, want;
};

const OfIntegers kIntegers[] = {
    {Op::Add, DType::Int8, 127, 1, -128},
    {Op::Sub, DType::Uint8, 0, 1, 255},
    {Op::Mul, DType::Int32, 65536, 65536, 0},
    {Op::Mul, DType::Int64, INT64_MAX, 2, -2},
    {Op::Pow, DType::Int32, 3, 4, 81},
    {Op::Pow, DType::Int32, 2, -1, 0},
    {Op::Pow, DType::Int64, -1, -3, -1},
    {Op::Pow, DType::Uint64, 3, -1, static_cast<int64_t>(0xAAAAAAAAAAAAAAABu)},  // to 2^64 - 1
    {Op::Fmod, DType::Int32, -7, 2, -1},
    {Op::Remainder, DType::Int32, -7, 2, 1},
    {Op::Remainder, DType::Int32, 7, -2, -1},
    {Op::Remainder, DType::Int64, INT64_MIN, -1, 0},
    {Op::FloorDiv, DType::Int32, -7, 2, -4},
    {Op::FloorDiv, DType::Int8, -128, -1, -128},
    {Op::FloorDiv, DType::Uint64, -1, 2, INT64_MAX},
    {Op::Maximum, DType::Uint64, -1, 1, -1},
    {Op::Minimum, DType::Int64, -1, 1, -1},
    {Op::Lt, DType::Uint64, 1, -1, 1},
    {Op::Eq, DType::Int64, INT64_MAX, INT64_MAX - 1, 0},
    {Op::And, DType::Int16, 6, 3, 2},
    {Op::Or, DType::Bool, 1, 0, 1},
    {Op::Xor, DType::Int32, -1, 1, -2},
    {Op::ShiftLeft, DType::Int8, 1, 7, -128},
    {Op::ShiftLeft, DType::Int32, 1, 32, 0},
    {Op::ShiftRight, DType::Int8, -128, 9, -1},
    {Op::ShiftRight, DType::Uint8, 255, 1, 127},
    {Op::ShiftRight, DType::Int64, -8, 1, -4},
};

TEST(SecondOpinion, IntegersWrapToTheirType) {
  for (const OfIntegers& one : kIntegers) {
    TestGraph g;
    const NodeId x = whole(g, one.type, one.x), z = whole(g, one.type, one.z);
    const WideTensor y = wide(g, g.add(one.op, {x, z}, {}));
    EXPECT_EQ(y.integers[0], one.want) << op_info(one.op).name << " of " << one.x << ", " << one.z;
  }
  TestGraph g, h, b;
  EXPECT_EQ(wide(g, g.add(Op::Not, {whole(g, DType::Uint8, 1)}, {})).integers[0], 254);
  EXPECT_EQ(wide(h, h.add(Op::Abs, {whole(h, DType::Int8, -128)}, {})).integers[0], -128);
  EXPECT_EQ(wide(b, b.add(Op::Not, {whole(b, DType::Bool, 1)}, {})).integers[0], 0);
}

struct OfCast {
  DType from, to;
  double x, want;
};

const OfCast kCasts[] = {
    {DType::Fp32, DType::Int32, -2.75, -2},
    {DType::Fp32, DType::Uint8, 300, 44},
    {DType::Fp32, DType::Uint8, -1, 255},
    {DType::Fp32, DType::Int64, kNan, 0},
    {DType::Fp64, DType::Int64, -1e30, -0x1p63},
    {DType::Fp32, DType::Bool, kNan, 1},
    {DType::Fp32, DType::Bool, 0.5, 1},
    {DType::Fp64, DType::Uint64, 0x1p63, 0x1p63},
    {DType::Fp64, DType::Fp8e4m3, 1000.1, 1000.1},
};

TEST(SecondOpinion, Casts) {
  for (const OfCast& one : kCasts) {
    TestGraph g;
    const WideTensor y = wide(g, g.builder.cast(number(g, one.from, one.x), one.to));
    EXPECT_EQ(y.value[0], one.want) << one.x << " to " << tensor::dtype_name(one.to);
  }
  TestGraph g, h, w;
  const int64_t odd = (int64_t{1} << 53) + 1;
  EXPECT_EQ(wide(g, g.builder.cast(whole(g, DType::Int64, odd), DType::Fp64)).value[0],
            static_cast<long double>(odd));
  EXPECT_EQ(rounded(h, h.builder.cast(whole(h, DType::Int64, odd), DType::Fp64)).value[0], 0x1p53L);
  EXPECT_EQ(wide(w, w.builder.cast(whole(w, DType::Int32, -1), DType::Uint16)).integers[0], 65535);
}

const OfCast kRoundedCasts[] = {
    {DType::Fp64, DType::Fp32, 0x1.000001p0, 1},
    {DType::Fp32, DType::Fp16, 1 + 0x1p-11, 1},
    {DType::Fp32, DType::Fp16, 1 + 0x3p-11, 1 + 0x1p-9},
    {DType::Fp32, DType::Fp16, 70000, kInf},
    {DType::Fp32, DType::Bf16, 1 + 0x1p-8, 1},
    {DType::Fp32, DType::Fp8e4m3, 17, 16},
    {DType::Fp32, DType::Fp8e4m3, 448, 448},
    {DType::Fp32, DType::Fp8e5m2, -70000, -kInf},
};

TEST(RoundedOpinion, CastsRoundToNearestEven) {
  for (const OfCast& one : kRoundedCasts) {
    TestGraph g;
    EXPECT_EQ(rounded(g, g.builder.cast(number(g, one.from, one.x), one.to)).value[0], one.want)
        << one.x << " to " << tensor::dtype_name(one.to);
  }
  TestGraph g;
  const NodeId y = g.builder.cast(number(g, DType::Fp32, 1000), DType::Fp8e4m3);
  EXPECT_TRUE(std::isnan(rounded(g, y).value[0]));
}

TEST(RoundedOpinion, EveryNodeRounds) {
  TestGraph g, h;
  const auto square_root = [](TestGraph& t) {
    const NodeId x = number(t, DType::Fp16, 1000);
    return t.unary(Op::Sqrt, t.binary(Op::Mul, x, x));
  };
  EXPECT_EQ(wide(g, square_root(g)).value[0], 1000);
  EXPECT_EQ(rounded(h, square_root(h)).value[0], kInf);
  // A number is fp32 beside a half type: 2047 * 0.1f is 204.7 and rounds to
  // 204.75; 2047 * fp16(0.1) is 204.65 and would round to 204.625.
  TestGraph tenth;
  const NodeId y = tenth.binary(Op::Mul, number(tenth, DType::Fp16, 2047), 0.1);
  EXPECT_EQ(rounded(tenth, y).value[0], 204.75L);
}

TEST(RoundedOpinion, SumsAreOneChainOfFloats) {
  const auto ones_after = [](TestGraph& g, DType type, double first) {
    return g.reduce(Op::Sum, g.input(floats(type, {3}, {first, 1, 1})), {0});
  };
  TestGraph a, b, c, d;
  EXPECT_EQ(wide(a, ones_after(a, DType::Fp32, 0x1p24)).value[0], 0x1p24L + 2);
  EXPECT_EQ(rounded(b, ones_after(b, DType::Fp32, 0x1p24)).value[0], 0x1p24L);
  EXPECT_EQ(rounded(c, ones_after(c, DType::Fp64, 0x1p24)).value[0], 0x1p24L + 2);
  EXPECT_EQ(rounded(d, ones_after(d, DType::Fp16, 2048)).value[0], 2050);
}

TEST(SecondOpinion, RefusesWhatItCannotUse) {
  TestGraph divided, outside, packed, shapes;
  const NodeId x = whole(divided, DType::Int32, 1), z = whole(divided, DType::Int32, 0);
  EXPECT_EQ(refusal(divided, divided.add(Op::FloorDiv, {x, z}, {})),
            "floor_div: integer division by zero");
  const NodeId from = number(outside, DType::Fp32, 1), index = whole(outside, DType::Int64, 1);
  EXPECT_EQ(refusal(outside, outside.add(Op::Gather, {from, index}, truth::along(0))),
            "gather: index 1 is outside of 1 elements");
  const NodeId pairs = packed.input(*tensor::make_tensor(DType::Fp4e2m1x2, {2}));
  EXPECT_EQ(refusal(packed, packed.add(Op::Flip, {pairs}, truth::along(0))),
            "input: cannot take a packed type");
  const graph::Graph graph = shapes.finish({number(shapes, DType::Fp32, 1)});
  EXPECT_FALSE(second_opinion(graph, {}));
  EXPECT_FALSE(second_opinion(graph, {floats(DType::Fp32, {2}, {1, 2})}));
}

/// Every pointwise op on every dtype that a graph may have.
TEST(SecondOpinion, KnowsAllPointwiseOps) {
  for (int i = 0; i < graph::kOps; ++i) {
    const auto op = static_cast<Op>(i);
    const graph::OpInfo& info = graph::op_info(op);
    if (info.kind != graph::OpKind::Pointwise || op == Op::Where) continue;
    for (const std::string& name : tensor::dtype_names()) {
      const DType type = *tensor::dtype_from_name(name);
      if (type == DType::Fp4e2m1x2) continue;
      TestGraph g;
      const NodeId x = g.input(*tensor::make_tensor(type, {1}));
      const NodeId one = g.builder.constant(type, 1);
      const NodeId z = g.got(g.builder.expand(one, {1}));
      std::vector<NodeId> in = {x, z};
      in.resize(static_cast<size_t>(info.inputs));
      const auto y = g.builder.add({op, in, type, {}, {}, "", 0, 0});
      if (!y) continue;
      EXPECT_EQ(refusal(g, *y), "") << info.name << " of " << name;
    }
  }
}

}  // namespace
}  // namespace kw::mutation
