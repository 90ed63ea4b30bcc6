// Finds the functions that an entry can reach, and those that may be entered again before they
// return. Every function has fixed slots, so only recursive ones need to save them. A call is
// recursive when the callee can reach the caller. A call through a pointer may reach every function
// whose address is taken, which is safe but may save more than needed. Above 1000 functions every
// call counts as recursive, because the exact search is quadratic.
#include "vgpu/call_graph.h"

#include <algorithm>

namespace kw::vgpu {
namespace {

constexpr int kMaxDepth = 256;
constexpr size_t kMaxExact = 1000;  // functions; with more, every call counts as recursive

bool has_indirect_call(const ptx::Function& f) {
  return std::ranges::any_of(f.instructions, [](const ptx::Instruction& in) {
    return in.opcode == "call" && in.operands[1].reg >= 0;
  });
}

void collect_operand(CallGraph& graph, const ptx::Module& module, const ptx::Operand& operand,
                     std::set<int>& callees) {
  if (operand.function >= 0) {
    callees.insert(operand.function);
    graph.address_taken.insert(operand.function);
  }
  const bool module_variable = operand.symbol >= 0 && !operand.local_symbol;
  if (module_variable && graph.variables_used.insert(operand.symbol).second) {
    std::vector<int> open = {operand.symbol};
    // An initialiser may hold addresses of further variables and of functions.
    while (!open.empty()) {
      const int variable = open.back();
      open.pop_back();
      for (const ptx::Variable::Patch& patch : module.variables[variable].patches) {
        if (patch.function >= 0)
          callees.insert(patch.function), graph.address_taken.insert(patch.function);
        if (patch.variable >= 0 && graph.variables_used.insert(patch.variable).second)
          open.push_back(patch.variable);
      }
    }
  }
  for (const ptx::Operand& element : operand.elements)
    collect_operand(graph, module, element, callees);
}

bool collect(CallGraph& graph, std::set<int>& visited, const ptx::Module& module, int index,
             int depth) {
  if (depth > kMaxDepth) return false;
  if (!visited.insert(index).second) return true;
  const ptx::Function& f = module.functions[index];
  std::set<int> callees;
  for (const ptx::Instruction& instruction : f.instructions) {
    for (const ptx::Operand& operand : instruction.operands) {
      collect_operand(graph, module, operand, callees);
      if (operand.label < 0) continue;
      for (const int target : f.labels[operand.label].call_targets)
        graph.address_taken.insert(target);
    }
  }
  for (const int callee : callees) {
    if (module.functions[callee].is_declaration || module.functions[callee].is_entry) continue;
    graph.calls[index].insert(callee);
    if (!collect(graph, visited, module, callee, depth + 1)) return false;
  }
  graph.order.insert(graph.order.begin(), index);
  return true;
}

// A call may lead back to its caller when the callee reaches the caller. A call through a pointer
// may lead to any function whose address is taken.
void find_reaches(CallGraph& graph, const std::set<int>& visited, const ptx::Module& module) {
  for (const int f : graph.order) {
    if (!has_indirect_call(module.functions[f])) continue;
    for (const int target : graph.address_taken) {
      if (visited.count(target) != 0) graph.calls[f].insert(target);
    }
  }
  for (const int f : graph.order) {
    if (module.functions[f].is_entry) continue;
    std::set<int>& reach = graph.reaches[f];
    if (graph.order.size() > kMaxExact) {
      reach.insert(graph.order.begin(), graph.order.end());
      continue;
    }
    std::vector<int> open(graph.calls[f].begin(), graph.calls[f].end());
    while (!open.empty()) {
      const int next = open.back();
      open.pop_back();
      if (!reach.insert(next).second) continue;
      open.insert(open.end(), graph.calls[next].begin(), graph.calls[next].end());
    }
  }
}

}  // namespace

bool CallGraph::may_reenter(int callee, int caller) const {
  const auto found = reaches.find(callee);
  return found != reaches.end() && found->second.count(caller) != 0;
}

CallGraph call_graph_of(const ptx::Module& module, int entry) {
  CallGraph graph;
  std::set<int> visited;
  graph.too_deep = !collect(graph, visited, module, entry, 0);
  if (!graph.too_deep) find_reaches(graph, visited, module);
  return graph;
}

}  // namespace kw::vgpu
