// Which instructions decide whether another one runs, and which loop it is in, follows from
// dominators: the meeting point of a branch is its immediate dominator in the reversed graph, and
// an edge to a dominator closes a loop. Single instructions are the nodes; basic blocks would be
// fewer, but every question here is about instructions. The iterative algorithm of Cooper, Harvey
// and Kennedy is short, and almost linear for code of compilers. The cost: innermost_loop() looks
// at all loops again at each call, so callers check is_tangled() first.
#include "ptx/flow_graph.h"

#include <algorithm>

namespace kw::ptx {
namespace {

using Edges = std::vector<std::vector<int>>;

std::vector<int> targets_of(const Function& f, const Instruction& in) {
  std::vector<int> targets;
  for (const Operand& operand : in.operands) {
    if (operand.kind != Operand::Kind::Label || operand.label < 0) continue;
    const Label& label = f.labels[operand.label];
    if (label.branch_targets.empty()) targets.push_back(label.instruction);
    for (const int one : label.branch_targets) targets.push_back(f.labels[one].instruction);
  }
  return targets;
}

std::vector<int> successors(const Function& f, int at, int end) {
  const Instruction& in = f.instructions[at];
  std::vector<int> next;
  if (in.opcode == "bra" || in.opcode == "brx") {
    next = targets_of(f, in);
  } else if (in.opcode == "ret" || in.opcode == "exit" || in.opcode == "trap") {
    next = {end};
  } else {
    return {at + 1};
  }
  if (in.guard >= 0) next.push_back(at + 1);
  return next;
}

/// The immediate dominators of all nodes that `root` reaches, by the algorithm of Cooper, Harvey
/// and Kennedy; -1 for the others.
std::vector<int> dominators(const Edges& next, const Edges& before, int root) {
  std::vector<int> order, number(next.size(), -1);
  std::vector<std::pair<int, size_t>> stack = {{root, 0}};
  std::vector<bool> seen(next.size(), false);
  seen[root] = true;
  while (!stack.empty()) {
    auto& [at, edge] = stack.back();
    if (edge == next[at].size()) {
      number[at] = static_cast<int>(order.size());
      order.push_back(at);
      stack.pop_back();
      continue;
    }
    const int to = next[at][edge++];
    if (seen[to]) continue;
    seen[to] = true;
    stack.emplace_back(to, 0);
  }
  std::vector<int> dominator(next.size(), -1);
  dominator[root] = root;
  const auto common = [&](int a, int b) {
    while (a != b) {
      int& lower = number[a] < number[b] ? a : b;
      lower = dominator[lower];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = order.size(); i-- > 0;) {
      const int at = order[i];
      if (at == root) continue;
      int found = -1;
      for (const int from : before[at]) {
        if (dominator[from] >= 0) found = found < 0 ? from : common(from, found);
      }
      changed = changed || dominator[at] != found;
      dominator[at] = found;
    }
  }
  dominator[root] = -1;
  return dominator;
}

// Numbers nodes so that a dominates b when first[a] <= first[b] < last[a].
struct DominatorTree {
  explicit DominatorTree(const std::vector<int>& dominator)
      : first(dominator.size(), 0), last(dominator.size(), 0) {
    Edges below(dominator.size());
    for (size_t i = 0; i < dominator.size(); ++i) {
      if (dominator[i] >= 0) below[dominator[i]].push_back(static_cast<int>(i));
    }
    int count = 0;
    std::vector<std::pair<int, size_t>> stack = {{0, 0}};
    first[0] = ++count;
    while (!stack.empty()) {
      auto& [at, child] = stack.back();
      if (child == below[at].size()) {
        last[at] = count + 1;
        stack.pop_back();
        continue;
      }
      const int to = below[at][child++];
      first[to] = ++count;
      stack.emplace_back(to, 0);
    }
  }
  bool dominates(int a, int b) const {
    return first[a] != 0 && first[a] <= first[b] && first[b] < last[a];
  }
  std::vector<int> first, last;  // 0: cannot be reached
};

}  // namespace

FlowGraph::FlowGraph(const Function& f) {
  const int last = static_cast<int>(f.instructions.size());
  next_.resize(f.instructions.size() + 1);
  before_.resize(next_.size());
  for (int i = 0; i < last; ++i) next_[i] = successors(f, i, last);
  for (int i = 0; i < last; ++i) {
    for (const int to : next_[i]) before_[to].push_back(i);
  }
  after_ = dominators(before_, next_, last);
  const DominatorTree tree(dominators(next_, before_, 0));
  for (int i = 0; i < last; ++i) {
    for (const int to : next_[i]) {
      if (tree.dominates(to, i)) loops_[to].push_back(i);
    }
  }
}

std::vector<bool> FlowGraph::innermost_loop(int at) const {
  std::vector<bool> best;
  std::ptrdiff_t size = 0;
  for (const auto& [head, ends] : loops_) {
    std::vector<bool> loop(next_.size(), false);
    loop[head] = true;
    std::vector<int> rest = ends;
    while (!rest.empty()) {
      const int one = rest.back();
      rest.pop_back();
      if (loop[one]) continue;
      loop[one] = true;
      rest.insert(rest.end(), before_[one].begin(), before_[one].end());
    }
    const std::ptrdiff_t count = std::ranges::count(loop, true);
    if (!loop[at] || (!best.empty() && count >= size)) continue;
    best = std::move(loop);
    size = count;
  }
  return best;
}

std::vector<int> FlowGraph::between(int at) const {
  std::vector<int> found, rest = next_[at];
  std::vector<bool> seen(next_.size(), false);
  while (!rest.empty()) {
    const int one = rest.back();
    rest.pop_back();
    if (one == after_[at] || one == at || seen[one]) continue;
    seen[one] = true;
    found.push_back(one);
    rest.insert(rest.end(), next_[one].begin(), next_[one].end());
  }
  return found;
}

}  // namespace kw::ptx
