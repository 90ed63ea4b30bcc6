#include "tasks.h"

#include <functional>
#include <stdexcept>

#include "graph/builder.h"
#include "graph/compose_norm.h"
#include "graph/compose_reduce.h"

namespace kw::verify_tests {

namespace {

using graph::Builder;
using graph::Dim;
using graph::NodeId;
using tensor::DType;

using Body = std::function<Result<NodeId>(Builder&, const std::vector<NodeId>&)>;

/// A graph built by a function, traced anew for every shape.
class Built : public task::Reference {
 public:
  Built(std::vector<task::TensorSpec> inputs, Body body)
      : inputs_(std::move(inputs)), body_(std::move(body)) {}

  Result<graph::Graph> trace(const task::Dims& dims) const override {
    Builder builder;
    std::vector<NodeId> nodes;
    for (const task::TensorSpec& spec : inputs_) {
      graph::Shape shape;
      for (const std::string& name : spec.shape) shape.push_back(Dim::symbol(name, dims.at(name)));
      nodes.push_back(builder.input(spec.name, spec.dtype, shape));
    }
    const NodeId y = KW_TRY(body_(builder, nodes));
    return std::move(builder).finish({{"y", y}});
  }

 private:
  std::vector<task::TensorSpec> inputs_;
  Body body_;
};

task::TensorSpec tensor_of(const std::string& name, DType dtype, std::vector<std::string> shape,
                           task::Role role = task::Role::Input) {
  task::TensorSpec spec;
  spec.name = name;
  spec.dtype = dtype;
  spec.shape = std::move(shape);
  spec.role = role;
  return spec;
}

task::Task task_of(const std::string& name, std::vector<task::TensorSpec> inputs, Body body) {
  task::Task task;
  task.name = name;
  task.format = "function";
  task.inputs = inputs;
  task.output_names = {"y"};
  for (const task::TensorSpec& spec : inputs) {
    for (const std::string& dim : spec.shape) task.dims[dim] = {};
  }
  task::Dims own, benchmark;
  for (const auto& [dim, range] : task.dims) {
    own[dim] = 128;
    benchmark[dim] = 1024;
  }
  task.correctness_shapes = {own};
  task.benchmark_shapes = {benchmark};
  task.reference = std::make_shared<Built>(std::move(inputs), std::move(body));
  return task;
}

task::Task rms_norm() {
  task::Task task = task_of("rms_norm", {tensor_of("x", DType::Fp16, {"B", "D"})},
                            [](Builder& b, const std::vector<NodeId>& in) {
                              return graph::rms_norm(b, in[0], {b[in[0]].shape[1]}, {}, 1e-5);
                            });
  task.scalars = {{"eps", DType::Fp32, 1e-5, 0}};
  return task;
}

task::Task layer_norm() {
  return task_of("layer_norm",
                 {tensor_of("x", DType::Fp32, {"B", "D"}),
                  tensor_of("w", DType::Fp32, {"D"}, task::Role::Weight),
                  tensor_of("b", DType::Fp32, {"D"}, task::Role::Weight)},
                 [](Builder& b, const std::vector<NodeId>& in) {
                   return graph::layer_norm(b, in[0], {b[in[0]].shape[1]}, in[1], in[2], 1e-5);
                 });
}

task::Task matmul() {
  task::Task task = task_of(
      "matmul", {tensor_of("a", DType::Fp32, {"M", "K"}), tensor_of("b", DType::Fp32, {"K", "N"})},
      [](Builder& b, const std::vector<NodeId>& in) { return b.matmul(in[0], in[1]); });
  task.benchmark_shapes = {{{"M", 256}, {"K", 256}, {"N", 256}}};
  return task;
}

/// Rows of a product with random weights: however far off zero its inputs are, its rows are not.
task::Task product_norm() {
  task::Task task =
      task_of("product_norm",
              {tensor_of("a", DType::Fp32, {"M", "K"}),
               tensor_of("b", DType::Fp32, {"K", "N"}, task::Role::Weight)},
              [](Builder& b, const std::vector<NodeId>& in) {
                const NodeId y = b.matmul(in[0], in[1]).value();
                return graph::layer_norm(b, y, {b[y].shape[1]}, std::nullopt, std::nullopt, 1e-5);
              });
  task.benchmark_shapes = {{{"M", 256}, {"K", 256}, {"N", 256}}};
  return task;
}

}  // namespace

task::Task make_task(const std::string& name) {
  const auto rows = [](DType dtype) { return std::vector{tensor_of("x", dtype, {"B", "D"})}; };
  if (name == "rms_norm") return rms_norm();
  if (name == "layer_norm") return layer_norm();
  if (name == "matmul") return matmul();
  if (name == "product_norm") return product_norm();
  if (name == "softmax")
    return task_of(name, rows(DType::Fp32), [](Builder& b, const std::vector<NodeId>& in) {
      return graph::softmax(b, in[0], 1);
    });
  if (name == "row_sum")
    return task_of(name, rows(DType::Fp32), [](Builder& b, const std::vector<NodeId>& in) {
      return graph::sum(b, in[0], {1}, false);
    });
  if (name == "sum_all")
    return task_of(name, rows(DType::Fp32), [](Builder& b, const std::vector<NodeId>& in) {
      return graph::sum(b, in[0], {0, 1}, false);
    });
  if (name == "row_max_column")
    return task_of(name, rows(DType::Fp32), [](Builder& b, const std::vector<NodeId>& in) {
      return graph::amax(b, in[0], {1}, true);
    });
  if (name == "transpose")
    return task_of(name, rows(DType::Fp32), [](Builder& b, const std::vector<NodeId>& in) {
      return b.permute(in[0], {1, 0});
    });
  if (name == "argmax")
    return task_of(name, rows(DType::Fp32), [](Builder& b, const std::vector<NodeId>& in) {
      return graph::argmax(b, in[0], 1, false);
    });
  throw std::invalid_argument("no task " + name);
}

std::vector<std::string> task_names() {
  return {"rms_norm", "layer_norm",     "matmul",    "softmax", "row_sum",
          "sum_all",  "row_max_column", "transpose", "argmax"};
}

}  // namespace kw::verify_tests
