// The part of a graph that one kernel computes: its stores, and the values it reads from memory,
// which are inputs or results of other kernels. All other nodes are computed in registers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "emit/index.h"

namespace kw::generate {

/// A contiguous tensor in memory: an input, an output or scratch of the module.
struct Buffer {
  std::string name;
  DType dtype = DType::Fp32;
  Shape shape;
};

struct Store {
  NodeId node = 0;
  Buffer to;  // has the node's shape
};

/// Numbers that the plan computes from dims and scalars, and passes to kernels by name.
struct PlanNumber {
  std::string name;
  DType dtype = DType::Fp32;  // fp32 or fp64 for floats, int64 for integers
  std::string text;           // in the grammar of a `let` with a dtype
  bool positive = false;      // at all dims; scalars may have any sign
};
/// By "fp32 1 / sqrt(D)".
using PlanNumbers = std::map<std::string, PlanNumber>;
/// The key of a Constant that is not a literal.
std::string number_key(const Node& constant);

struct Region {
  const Graph* graph = nullptr;
  const PlanNumbers* numbers = nullptr;
  std::string name;                // name of the kernel
  std::vector<Store> stores;       // at least one
  std::map<NodeId, Buffer> loads;  // never one of `stores`
  std::set<std::string> in_place;  // also read; each element before it is written
  std::set<std::string> taken;     // names that variables must not have
  std::string suffix;              // suffix of tunables and lets: "" or "_2"

  const Node& node(NodeId id) const { return (*graph)[id]; }
  const Node& root(size_t i = 0) const { return node(stores[i].node); }
};

/// Nodes computed in registers, in order: what the stores need, down to the loads.
std::vector<NodeId> interior(const Region& region);
/// The interior nodes that are not element-wise: reductions, scans, selections, products, scatters,
/// folds.
std::vector<NodeId> heavy_nodes(const Region& region);
bool is_heavy(Op op);
/// The casts in it that must round in registers: they lose bits, and not only stores follow.
std::set<NodeId> roundings(const Region& region);

}  // namespace kw::generate
