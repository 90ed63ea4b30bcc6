// The Oracle of every machine: interprets the graph on the CPU, all cores, chunk by chunk.
// docs/error-bound.md has the rules of the bound.
#pragma once

#include "exec/oracle.h"
#include "graph/op.h"

namespace kw::oracle {

/// How many units of relative error one op may add on the fp32 path (0 for exact ops).
double op_error(graph::Op op);

class Interpreter final : public exec::Oracle {
 public:
  Result<std::vector<exec::Truth>> truth(const graph::Graph& graph,
                                         const std::vector<tensor::HostTensor>& inputs,
                                         const exec::TruthOptions& options) override;
  Result<std::vector<tensor::HostTensor>> op_by_op(const graph::Graph& graph,
                                                   const std::vector<tensor::HostTensor>& inputs,
                                                   const exec::TruthOptions& options) override;
};

}  // namespace kw::oracle
