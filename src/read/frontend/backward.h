// From a forward task to the task of its gradients: the same reference, inputs and shapes, an
// upstream gradient for every output, a gradient for every input that has one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/derive.h"
#include "task/task.h"

namespace kw::frontend {

struct BackwardTaskOptions {
  std::vector<std::string> of;  // inputs and weights whose gradients are asked for; empty: all
};

/// Inputs: the forward's inputs and weights that a gradient needs, in their order, then one
/// "grad_NAME" for each float output. Outputs: "grad_NAME" for each input and parameter that has a
/// gradient; buffers have none. Shapes, dims and precision are the forward's, without its atol and
/// rtol, which are about other numbers. Nothing to differentiate is an input Error.
Result<task::Task> backward_task(const task::Task& forward,
                                 const BackwardTaskOptions& options = {});

/// What is differentiated when this function is asked for: "softmax" of "softmax.backward", "" (the
/// reference itself) of "backward"; nothing of any other name.
std::optional<std::string> forward_function(const std::string& function);

/// The gradients of another reference, at any dims.
class BackwardReference : public task::Reference {
 public:
  BackwardReference(std::shared_ptr<const task::Reference> forward, graph::BackwardOptions options)
      : forward_(std::move(forward)), options_(std::move(options)) {}
  Result<graph::Graph> trace(const task::Dims& dims) const override;
  const std::shared_ptr<const task::Reference>& forward() const { return forward_; }
  /// `of` and `keep` are always set.
  const graph::BackwardOptions& options() const { return options_; }

 private:
  std::shared_ptr<const task::Reference> forward_;
  graph::BackwardOptions options_;
};

}  // namespace kw::frontend
