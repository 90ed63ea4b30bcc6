// The functions that an entry can reach, and which calls may lead back to their caller.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "ptx/ptx_module.h"

namespace kw::vgpu {

struct CallGraph {
  std::vector<int> order;  // functions, callers before callees: the entry is first
  std::map<int, std::set<int>> calls, reaches;  // functions by caller
  std::set<int> address_taken;
  std::set<int> variables_used;  // of the module
  bool too_deep = false;         // then the rest is not complete

  /// Whether the caller may be entered again before a call of `callee` returns.
  bool may_reenter(int callee, int caller) const;
};

CallGraph call_graph_of(const ptx::Module& module, int entry);

}  // namespace kw::vgpu
