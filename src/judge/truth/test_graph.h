// For the tests of this module: builds small graphs and tensors in one line each.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder.h"
#include "tensor/convert.h"
#include "truth/interpreter.h"

namespace kw::truth {

inline tensor::HostTensor floats(tensor::DType dtype, std::vector<int64_t> shape,
                                 const std::vector<double>& values) {
  tensor::HostTensor tensor = *tensor::make_tensor(dtype, std::move(shape));
  tensor::store_floats(tensor, 0, values);
  return tensor;
}

inline tensor::HostTensor integers(tensor::DType dtype, std::vector<int64_t> shape,
                                   const std::vector<int64_t>& values) {
  tensor::HostTensor tensor = *tensor::make_tensor(dtype, std::move(shape));
  for (size_t k = 0; k < values.size(); ++k)
    tensor::store_int(tensor, static_cast<int64_t>(k), values[k]);
  return tensor;
}

inline graph::Attrs along(int dim) {
  graph::Attrs attrs;
  attrs.dims = {dim};
  return attrs;
}

/// A graph under construction; an invalid op fails the test.
class TestGraph {
 public:
  using Id = graph::NodeId;

  Id input(const tensor::HostTensor& tensor) {
    graph::Shape shape(tensor.shape.begin(), tensor.shape.end());
    inputs_.push_back(tensor);
    return builder.input("x" + std::to_string(inputs_.size()), tensor.dtype, shape);
  }
  Id unary(graph::Op op, Id x) { return got(builder.unary(op, x)); }
  Id binary(graph::Op op, Id x, Id z) {
    return got(builder.binary(op, graph::Operand::tensor(x), graph::Operand::tensor(z)));
  }
  Id binary(graph::Op op, Id x, double z) {
    return got(builder.binary(op, graph::Operand::tensor(x), graph::Operand::of(z)));
  }
  Id reduce(graph::Op op, Id x, std::vector<int> dims, bool keepdim = true) {
    return got(builder.reduce(op, x, std::move(dims), keepdim));
  }
  Id add(graph::Op op, std::vector<Id> in, graph::Attrs attrs, graph::Shape shape = {}) {
    return got(builder.add(
        {op, std::move(in), tensor::DType::Fp32, std::move(shape), std::move(attrs), "", 0, 0}));
  }
  Id got(Result<Id> result) {
    if (!result) ADD_FAILURE() << result.error().message;
    return result ? *result : 0;
  }

  graph::Graph finish(const std::vector<Id>& outputs) {
    std::vector<graph::NamedNode> named;
    for (const Id id : outputs) named.push_back({"y" + std::to_string(named.size() + 1), id});
    graph::Graph graph = std::move(builder).finish(std::move(named));
    const auto ok = graph::verify(graph);
    if (!ok) ADD_FAILURE() << ok.error().message;
    return graph;
  }
  std::vector<ports::Truth> truths(const std::vector<Id>& outputs,
                                   const ports::TruthOptions& options = {}) {
    const graph::Graph graph = finish(outputs);
    auto result = Interpreter().truth(graph, inputs_, options);
    if (!result) ADD_FAILURE() << result.error().message;
    return result ? std::move(result).value() : std::vector<ports::Truth>(outputs.size());
  }
  ports::Truth truth(Id output) { return std::move(truths({output})[0]); }

  graph::Builder builder;
  const std::vector<tensor::HostTensor>& inputs() const { return inputs_; }

 private:
  std::vector<tensor::HostTensor> inputs_;
};

}  // namespace kw::truth
