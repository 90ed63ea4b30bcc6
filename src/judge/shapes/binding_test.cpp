#include "shapes/binding.h"

#include <gtest/gtest.h>

#include "cuda_source/diagnostics.h"
#include "graph/builder.h"
#include "kernel/parse_module.h"

namespace kw::shapes {

namespace {

using graph::Dim;
using tensor::DType;

/// y[B, 2 D] = cat(x, x) of x[B, D]; w[D] is also an input.
graph::Graph graph_of(int64_t b_extent, int64_t d_extent) {
  graph::Builder b;
  const Dim rows = Dim::symbol("B", b_extent), columns = Dim::symbol("D", d_extent);
  const graph::NodeId x = b.input("x", DType::Fp32, {rows, columns});
  const graph::NodeId w = b.input("w", DType::Fp16, {columns});
  b.input("unused", DType::Int64, {rows});
  const auto sum = b.binary(graph::Op::Add, graph::Operand::tensor(x),
                            graph::Operand::tensor(b.cast(w, DType::Fp32)));
  graph::Node cat;
  cat.op = graph::Op::Concat;
  cat.inputs = {*sum, *sum};
  cat.attrs.dims = {1};
  const auto y = b.add(cat);
  if (!y) throw std::runtime_error(y.error().message);
  return std::move(b).finish({{"y", *y}});
}

task::Task task_of() {
  task::Task task;
  task.name = "twin";
  for (const char* name : {"x", "w", "unused"}) {
    task::TensorSpec spec;
    spec.name = name;
    task.inputs.push_back(spec);
  }
  task.scalars = {{"eps", DType::Fp32, 0.25, 0}, {"count", DType::Int64, 0, 9}};
  task.dims = {{"B", {}}, {"D", {}}};
  return task;
}

kernel::Module parse(const std::string& lines) {
  const std::string text =
      "//! kernelwright 1\n//! task twin\n" + lines +
      "__global__ void k(const float* x, const unsigned short* w, float* y) {}\n";
  kernel::ParseOutcome outcome = kernel::parse(text, "twin.cu");
  if (!outcome.module)
    throw std::runtime_error(cuda_source::render_diagnostics(outcome.diagnostics, text, "twin.cu"));
  return std::move(*outcome.module);
}

Result<kernel::Bindings> bind_module(const std::string& lines, int64_t b, int64_t d) {
  const kernel::Module module = parse(lines);
  const task::Task task = task_of();
  const graph::Graph graph = graph_of(b, d);
  const Matching matching = KW_TRY(match_tensors(module, task, graph));
  return bind_shape(module, matching, task, graph, {{"B", b}, {"D", d}}, {});
}

struct Row {
  const char* name;
  const char* lines;
  std::map<std::string, int64_t> dims;  // empty: must be rejected
  const char* says = "";
};

class Binding : public testing::TestWithParam<Row> {};

TEST_P(Binding, SolvesTheModulesDims) {
  const Row& row = GetParam();
  const auto bindings = bind_module(row.lines, 3, 10);
  if (row.dims.empty()) {
    ASSERT_FALSE(bindings);
    EXPECT_NE(bindings.error().message.find(row.says), std::string::npos)
        << bindings.error().message;
    EXPECT_EQ(bindings.error().blame, Blame::Input);
    return;
  }
  ASSERT_TRUE(bindings) << bindings.error().message;
  EXPECT_EQ(bindings->dims, row.dims);
}

INSTANTIATE_TEST_SUITE_P(
    Modules, Binding,
    testing::Values(
        Row{"SameNames",
            "//! input x: fp32[B, D]\n//! input w: fp16[D]\n//! output y: fp32[B, 2 * D]\n"
            "//! launch k grid(B) block(32) args(x, w, y)\n",
            {{"B", 3}, {"D", 10}}},
        Row{"OtherNames",
            "//! input a: fp32[M, N]\n//! input c: fp16[N]\n//! output z: fp32[M, N + N]\n"
            "//! launch k grid(M) block(32) args(a, c, z)\n",
            {{"M", 3}, {"N", 10}}},
        Row{"NamesWinOverPosition",
            "//! input w: fp16[D]\n//! input x: fp32[B, D]\n//! output y: fp32[B, 2 * D]\n"
            "//! launch k grid(B) block(32) args(x, w, y)\n",
            {{"B", 3}, {"D", 10}}},
        Row{"Halved",
            "//! input x: fp32[B, 2 * H]\n//! input w: fp16[H + H]\n//! output y: fp32[B, 4 * H]\n"
            "//! launch k grid(B) block(32) args(x, w, y)\n",
            {{"B", 3}, {"H", 5}}},
        Row{"ThroughALet",
            "//! input x: fp32[B, D]\n//! input w: fp16[D]\n//! output y: fp32[B, WIDE]\n"
            "//! let WIDE = 2 * D\n//! launch k grid(B) block(32) args(x, w, y)\n",
            {{"B", 3}, {"D", 10}}},
        Row{"Fixed",
            "//! input x: fp32[B, 10]\n//! input w: fp16[10]\n//! output y: fp32[B, 20]\n"
            "//! launch k grid(B) block(32) args(x, w, y)\n",
            {{"B", 3}}},
        Row{"FixedOtherwise",
            "//! input x: fp32[B, 12]\n//! input w: fp16[12]\n//! output y: fp32[B, 24]\n"
            "//! launch k grid(B) block(32) args(x, w, y)\n",
            {},
            "here it is 10"},
        Row{"OneDimTwoValues",
            "//! input x: fp32[N, N]\n//! input w: fp16[N]\n//! output y: fp32[N, 2 * N]\n"
            "//! launch k grid(N) block(32) args(x, w, y)\n",
            {},
            "here it is"},
        Row{"OddHalf",
            "//! input x: fp32[B, 4 * H]\n//! input w: fp16[4 * H]\n//! output y: fp32[B, 8 * H]\n"
            "//! launch k grid(B) block(32) args(x, w, y)\n",
            {},
            "dim H does not follow"},
        Row{"DTypeOfWeights",
            "//! input x: fp32[B, D]\n//! input w: fp32[D]\n//! output y: fp32[B, 2 * D]\n"
            "//! launch k grid(B) block(32) args(x, w, y)\n",
            {},
            "'w' is fp32, the task's 'w' is fp16"},
        Row{"InputLeftOut",
            "//! input x: fp32[B, D]\n//! output y: fp32[B, 2 * D]\n"
            "//! launch k grid(B) block(32) args(x, x, y)\n",
            {},
            "no input for the task's 'w' (fp16[D])"}),
    [](const testing::TestParamInfo<Row>& row) { return row.param.name; });

constexpr char kBase[] =
    "//! input x: fp32[B, D]\n//! input w: fp16[D]\n//! output y: fp32[B, 2 * D]\n"
    "//! launch k grid(B) block(32) args(x, w, y)\n";

}  // namespace

TEST(BindScalars, ByNameThenDimThenDefaultThenPosition) {
  const auto named = bind_module(std::string("//! scalar eps: fp32 = 1\n") + kBase, 3, 10);
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->scalars.at("eps"), 0.25) << "the task's value, not the module's default";
  const auto dim = bind_module(
      std::string("//! scalar count: int32\n//! scalar other: fp32 = 3\n") + kBase, 3, 10);
  ASSERT_TRUE(dim);
  EXPECT_EQ(dim->integer_scalars.at("count"), 9);
  EXPECT_EQ(dim->scalars.count("other"), 0U) << "keeps its default";
  const auto position = bind_module(std::string("//! scalar epsilon: fp32\n") + kBase, 3, 10);
  ASSERT_TRUE(position);
  EXPECT_EQ(position->scalars.at("epsilon"), 0.25);
  const auto wrong = bind_module(std::string("//! scalar eps: int32\n") + kBase, 3, 10);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("scalar 'eps' is int32"), std::string::npos);
}

TEST(BindShape, TensorsOfAnotherShapeAreNoCrash) {
  const kernel::Module module = parse(kBase);
  const auto matching = match_tensors(module, task_of(), graph_of(3, 10));
  ASSERT_TRUE(matching) << matching.error().message;
  const auto bind = [&](graph::Graph graph) {
    const auto bound = bind_shape(module, *matching, task_of(), graph, {{"B", 3}, {"D", 10}}, {});
    return bound ? std::string("bound") : bound.error().message;
  };
  graph::Graph fewer = graph_of(3, 10);
  fewer.inputs.resize(1);
  EXPECT_NE(bind(fewer).find("no tensor for 'w' at this shape"), std::string::npos) << bind(fewer);
  graph::Graph none = graph_of(3, 10);
  none.outputs.clear();
  EXPECT_NE(bind(none).find("no tensor for 'y' at this shape"), std::string::npos) << bind(none);
  graph::Graph rank = graph_of(3, 10);
  rank.outputs[0].node = rank.inputs[1].node;
  EXPECT_NE(bind(rank).find("'y' has 2 dimensions, the task's 'y' has 1 here"), std::string::npos)
      << bind(rank);
}

TEST(MatchTensors, NotesWhatWasTakenByPosition) {
  const kernel::Module module = parse(
      "//! input a: fp32[M, N]\n//! input w: fp16[N]\n//! output y: fp32[M, 2 * N]\n"
      "//! launch k grid(M) block(32) args(a, w, y)\n");
  const auto matching = match_tensors(module, task_of(), graph_of(3, 10));
  ASSERT_TRUE(matching) << matching.error().message;
  ASSERT_EQ(matching->notes.size(), 1U);
  EXPECT_EQ(matching->notes[0], "the module's 'a' is matched with the task's 'x' (by position)");
  EXPECT_EQ(matching->tensors[0].input, 0);
  EXPECT_EQ(matching->tensors[1].input, 1);
  EXPECT_EQ(matching->tensors[2].output, 0);
}

TEST(MatchTensors, AnOptionalInputTheTaskLacksIsAbsent) {
  const kernel::Module module = parse(
      "//! input x: fp32[B, D]\n//! input w: fp16[D]\n//! input bias?: fp32[D]\n"
      "//! output y: fp32[B, 2 * D]\n//! launch k grid(B) block(32) args(x, w, y, bias)\n");
  const auto matching = match_tensors(module, task_of(), graph_of(3, 10));
  ASSERT_TRUE(matching) << matching.error().message;
  EXPECT_EQ(matching->absent, std::set<std::string>{"bias"});
}

}  // namespace kw::shapes
