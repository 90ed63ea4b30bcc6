// The oracle that works on every machine: interprets the graph on all CPU cores, chunk by chunk.
// docs/error-bound.md has the rules of the bound.
#pragma once

#include "ports/oracle.h"

namespace kw::truth {

class Interpreter final : public ports::Oracle {
 public:
  Result<std::vector<ports::Truth>> truth(const graph::Graph& graph,
                                          const std::vector<tensor::HostTensor>& inputs,
                                          const ports::TruthOptions& options) override;
  /// Adds what the op-by-op run allows where bounds are infinite, though nothing overflows.
  Status settle_poles(const graph::Graph& graph, const std::vector<tensor::HostTensor>& inputs,
                      const ports::TruthOptions& options, std::vector<ports::Truth>& truths);
  Result<std::vector<tensor::HostTensor>> op_by_op(const graph::Graph& graph,
                                                   const std::vector<tensor::HostTensor>& inputs,
                                                   const ports::TruthOptions& options) override;
};

}  // namespace kw::truth
