// Defines the outputs of each imposter in one cell. Internal to imposters.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "gate/pool.h"
#include "graph/graph.h"
#include "ports/oracle.h"
#include "task/task.h"

namespace kw::gate {

/// Everything that an imposter may use. `earlier` is another set of the same shape; it may be null.
struct ImposterCell {
  const task::Task& task;
  const graph::Graph& graph;
  const PoolSet& set;
  const PoolSet* earlier;
  ports::Oracle& oracle;
};

/// Outputs parallel to the graph's, or the reason why the imposter does not apply.
struct ImposterOutputs {
  std::vector<tensor::HostTensor> outputs;
  std::string inapplicable;
};
/// The result for a task to which the imposter does not apply.
inline ImposterOutputs not_applicable(std::string why) { return {{}, std::move(why)}; }

struct ImposterKind {
  const char* name;
  Result<ImposterOutputs> (*impose)(const ImposterCell& cell);
  /// Mathematically equal to the reference: only rounding can show a difference. If all outputs are
  /// within the bound, the imposter is a right answer.
  bool same_on_paper = false;
};

/// Imposters that change the right answer: zero, constant, identity, …
std::span<const ImposterKind> answer_imposters();
/// Imposters that compute the reference differently: sampled, one-pass, in lower precision, …
std::span<const ImposterKind> formula_imposters();

/// Returns the truth as a perfect kernel would write it.
tensor::HostTensor rounded(const ports::Truth& truth);

}  // namespace kw::gate
