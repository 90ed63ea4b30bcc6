// The order in which the instructions of a function may run: successors, dominators, loops.
#pragma once

#include <map>
#include <vector>

#include "ptx/ptx_module.h"

namespace kw::ptx {

/// Nodes are the indices of instructions; one more stands for the end of the function.
class FlowGraph {
 public:
  explicit FlowGraph(const Function& function);

  /// Whether the loops are too many to look at one by one; no compiler makes such code.
  bool is_tangled() const { return loops_.size() > 1024; }

  int end() const { return static_cast<int>(next_.size()) - 1; }
  const std::vector<int>& next(int at) const { return next_[at]; }
  /// The nearest place that every path from `at` to the end passes; -1: there is none.
  int meeting_point(int at) const { return after_[at]; }
  /// The instructions of the innermost loop around `at`, as flags per node; empty: there is none.
  std::vector<bool> innermost_loop(int at) const;
  /// The instructions on paths from `at` to its meeting point, without both.
  std::vector<int> between(int at) const;

 private:
  std::vector<std::vector<int>> next_, before_;
  std::vector<int> after_;
  std::map<int, std::vector<int>> loops_;  // head -> the instructions that go back to it
};

}  // namespace kw::ptx
