// The task of many tests: y = 2 x + 1.
#pragma once

#include <memory>

#include "graph/builder.h"
#include "task/task.h"

namespace kw::inputs {

/// y[B, D] = 2 x + 1 in fp32.
class FakeReference : public task::Reference {
 public:
  Result<graph::Graph> trace(const task::Dims& dims) const override {
    graph::Builder b;
    const graph::NodeId x =
        b.input("x", tensor::DType::Fp32,
                {graph::Dim::symbol("B", dims.at("B")), graph::Dim::symbol("D", dims.at("D"))});
    const graph::NodeId twice =
        KW_TRY(b.binary(graph::Op::Mul, graph::Operand::tensor(x), graph::Operand::of(2.0)));
    const graph::NodeId y =
        KW_TRY(b.binary(graph::Op::Add, graph::Operand::tensor(twice), graph::Operand::of(1.0)));
    return std::move(b).finish({{"y", y}});
  }
};

inline task::Task fake_task() {
  task::Task task;
  task.name = "twice";
  task::TensorSpec x;
  x.name = "x";
  x.shape = {"B", "D"};
  task.inputs = {x};
  task.output_names = {"y"};
  task.dims = {{"B", {}}, {"D", {}}};
  task.correctness_shapes = {{{"B", 4}, {"D", 32}}};
  task.benchmark_shapes = {{{"B", 64}, {"D", 64}}};
  task.reference = std::make_shared<FakeReference>();
  return task;
}

}  // namespace kw::inputs
