#include "task/task.h"

#include <gtest/gtest.h>

#include "graph/builder.h"

namespace kw::task {
namespace {

Task example() {
  Task task;
  task.name = "scale";
  task.format = "function";
  task.source_path = "a/scale.py";
  task.source = "def scale(x): return x * 2";
  TensorSpec x;
  x.name = "x";
  x.dtype = tensor::DType::Fp16;
  x.shape = {"B", "2 * D + 1", "8"};
  task.inputs = {x};
  task.output_names = {"y"};
  task.dims["B"] = {1, 64, 1};
  task.dims["D"] = {};
  task.benchmark_shapes = {{{"B", 4}, {"D", 3}}};
  task.correctness_shapes = task.benchmark_shapes;
  return task;
}

/// Reads w only when B and D differ; at B = 1 also v; at D = 1 its x is fp32.
class MovingReference : public Reference {
 public:
  Result<graph::Graph> trace(const Dims& at) const override {
    graph::Builder b;
    const graph::Dim rows = graph::Dim::symbol("B", at.at("B"));
    const graph::Dim columns = graph::Dim::symbol("D", at.at("D"));
    const graph::NodeId x =
        b.input("x", at.at("D") == 1 ? tensor::DType::Fp32 : tensor::DType::Fp16, {rows, columns});
    graph::NodeId y = x;
    if (at.at("B") != at.at("D")) y = b.input("w", tensor::DType::Fp16, {rows, columns});
    if (at.at("B") == 1) y = b.input("v", tensor::DType::Fp16, {columns});
    return std::move(b).finish({{"y", y}});
  }
};

TEST(Task, HasOneSetOfTensorsAtEveryShape) {
  Task task;
  task.reference = std::make_shared<MovingReference>();
  for (const char* name : {"x", "w"}) {
    TensorSpec spec;
    spec.name = name;
    spec.dtype = tensor::DType::Fp16;
    spec.shape = {"B", "D"};
    task.inputs.push_back(spec);
  }
  task.set_outputs(*task.reference->trace({{"B", 4}, {"D", 3}}));
  EXPECT_EQ(task.output_names, std::vector<std::string>{"y"});
  EXPECT_TRUE(task.graph_at({{"B", 4}, {"D", 3}}));
  const auto said = [&](int64_t b, int64_t d) {
    const auto graph = task.graph_at({{"B", b}, {"D", d}});
    if (graph) return std::string("fine");
    EXPECT_EQ(graph.error().blame, Blame::Input);
    return graph.error().message.substr(0, graph.error().message.find('\n'));
  };
  EXPECT_EQ(said(4, 4), "the reference does not have the task's inputs (no 'w') at this shape");
  EXPECT_EQ(said(4, 1),
            "the reference does not have the task's inputs ('x' is fp32 with 2 dimensions, not "
            "fp16 with 2 dimensions) at this shape");
  EXPECT_EQ(said(1, 3), "the reference does not have the task's inputs (also 'v') at this shape");
  task.inputs.pop_back();
  EXPECT_EQ(said(4, 3), "the reference does not have the task's inputs (also 'w') at this shape");
  EXPECT_EQ(said(5, 5), "fine");
  task.output_forms = {{tensor::DType::Fp16, 1}};
  EXPECT_EQ(said(5, 5),
            "the reference does not have the task's outputs ('y' is fp16 with 2 dimensions, not "
            "fp16 with 1 dimension) at this shape");
}

TEST(Task, ShapesFollowDims) {
  const Task task = example();
  const TensorSpec* x = task.find_input("x");
  ASSERT_TRUE(x);
  EXPECT_EQ(task.find_input("z"), nullptr);
  const auto shape = task.shape_of(*x, {{"B", 4}, {"D", 3}});
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(*shape, (std::vector<int64_t>{4, 7, 8}));
  EXPECT_FALSE(task.shape_of(*x, {{"B", 4}}));
  const auto negative = task.shape_of(*x, {{"B", 4}, {"D", -3}});
  ASSERT_FALSE(negative);
  EXPECT_EQ(negative.error().message,
            "shape of 'x': extent '2 * D + 1' is -5 (D = -3), outside 0 … 2^40");
  TensorSpec bad = *x;
  bad.shape = {"B +"};
  EXPECT_EQ(task.shape_of(bad, {{"B", 4}}).error().message,
            "shape of 'x': 'B +' is not a shape expression");
}

TEST(Task, ExtentsOfARange) {
  const DimRange range{10, 41, 8};
  EXPECT_EQ(range.nearest(1), 16);
  EXPECT_EQ(range.nearest(16), 16);
  EXPECT_EQ(range.nearest(17), 24);
  EXPECT_EQ(range.nearest(1000), 40);
  EXPECT_EQ(range.up(1000), 1000);
  EXPECT_EQ(range.up(1001), 1008);
  for (const int64_t extent : {8, 17, 41, 48}) EXPECT_FALSE(range.takes(extent)) << extent;
  for (const int64_t extent : {16, 40}) EXPECT_TRUE(range.takes(extent)) << extent;
  EXPECT_EQ((DimRange{0, 5, 1}.nearest(-3)), 0);
  EXPECT_EQ((DimRange{3, 7, 8}.nearest(5)), 8);  // no extent fits: the least multiple
}

TEST(Task, DimsAsText) {
  EXPECT_EQ(dims_text({{"B", 16384}, {"D", 1024}}), "B=16384 D=1024");
  EXPECT_EQ(dims_text({}), "");
}

TEST(Task, HashNamesTheQuestion) {
  const Task task = example();
  Task moved = example();
  moved.source_path = "elsewhere/scale.py";
  moved.notes = {"assumed"};
  EXPECT_EQ(task_hash(task), task_hash(moved));
  Task other = example();
  other.source += "\n";
  EXPECT_NE(task_hash(task), task_hash(other));
  Task stricter = example();
  stricter.precision.atol = 1e-3;
  EXPECT_NE(task_hash(task), task_hash(stricter));
  Task ranged = example();
  ranged.inputs[0].legal.structure = Structure::Upper;
  EXPECT_NE(task_hash(task), task_hash(ranged));
}

TEST(Task, AsData) {
  Task task = example();
  task.inputs[0].legal.low = 0;
  task.inputs[0].legal.below = "D";
  task.scalars = {{"eps", tensor::DType::Fp32, 1e-5, 0}, {"flag", tensor::DType::Bool, 0, 1}};
  const Json json = to_json(task);
  EXPECT_EQ(json["inputs"].items()[0]["legal"].dump(), R"({"low":0,"below":"D"})");
  EXPECT_EQ(json["scalars"].items()[0]["value"].as_double(), 1e-5);
  EXPECT_EQ(json["scalars"].items()[1]["value"].as_int(), 1);
  EXPECT_EQ(json["dims"]["B"]["high"].as_int(), 64);
  EXPECT_EQ(json["benchmark_shapes"].dump(), R"([{"B":4,"D":3}])");
}

}  // namespace
}  // namespace kw::task
