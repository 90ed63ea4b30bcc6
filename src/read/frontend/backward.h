// Makes the task of the gradients from a forward task. It has the same reference and shapes, an
// upstream gradient for every output, and a gradient for every differentiable input.
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
  std::vector<std::string> of;  // inputs and weights to differentiate by; empty: all
};

/// Inputs: the forward's inputs and weights that a gradient needs, in their order. Then one
/// "grad_NAME" for each float output. Outputs: "grad_NAME" for each input and parameter that has a
/// gradient; buffers have none. Shapes, dims and precision are the forward's. Its atol and rtol are
/// dropped, because they are about other numbers. If no input has a gradient, the result is an
/// input Error.
Result<task::Task> backward_task(const task::Task& forward,
                                 const BackwardTaskOptions& options = {});

/// The function to differentiate for a requested function: "softmax" for "softmax.backward", ""
/// (the reference itself) for "backward". Not set for any other name.
std::optional<std::string> forward_function(const std::string& function);

/// A reference that computes the gradients of another reference, at any dims.
class BackwardReference : public task::Reference {
 public:
  BackwardReference(std::shared_ptr<const task::Reference> forward, graph::BackwardOptions options)
      : forward_(std::move(forward)), options_(std::move(options)) {}
  Result<graph::Graph> trace(const task::Dims& dims) const override;
  bool is_slow() const override { return forward_->is_slow(); }
  const std::shared_ptr<const task::Reference>& forward() const { return forward_; }
  /// `of` is always set; `keep` names the forward's inputs that the task keeps.
  const graph::BackwardOptions& options() const { return options_; }

 private:
  std::shared_ptr<const task::Reference> forward_;
  graph::BackwardOptions options_;
};

}  // namespace kw::frontend
