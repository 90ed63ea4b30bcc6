// What each imposter puts out in one cell. Internal to imposters.cpp.
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

/// All an imposter may use. `earlier` is another set of the same shape; may be null.
struct ImposterCell {
  const task::Task& task;
  const graph::Graph& graph;
  const PoolSet& set;
  const PoolSet* earlier;
  ports::Oracle& oracle;
};

/// Outputs parallel to the graph's, or the reason why it does not apply here.
struct Imposed {
  std::vector<tensor::HostTensor> outputs;
  std::string inapplicable;
};
/// For a task it cannot answer.
inline Imposed not_here(std::string why) { return {{}, std::move(why)}; }

struct ImposterKind {
  const char* name;
  Result<Imposed> (*impose)(const ImposterCell& cell);
  /// The same formula on paper: only numbers can show that it is worse, and where they do not, it
  /// is a right answer.
  bool same_on_paper = false;
};

/// Edits of the right answer: zero, constant, identity, …
std::span<const ImposterKind> answer_imposters();
/// The reference computed another way: sampled, one-pass, in lower precision, …
std::span<const ImposterKind> formula_imposters();

/// The truth as a perfect kernel would write it.
tensor::HostTensor rounded(const ports::Truth& truth);

}  // namespace kw::gate
