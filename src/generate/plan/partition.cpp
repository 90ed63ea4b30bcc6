// The problem: which nodes share a kernel. The choice: start with a region per op that reads many
// elements, and join regions as long as a schedule accepts the result. The alternative, an exact
// search over partitions, grows exponentially. The cost: joining is greedy, so chains such as
// attention are tried first.
#include "plan/partition.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "emit/emit.h"
#include "plan/schedule.h"

namespace kw::generate {

namespace {

constexpr size_t kMostJoined = 32;  // with more kernels, fusing is not tried

/// The roots of one kernel, ascending.
using Roots = std::set<NodeId>;

class Cutter {
 public:
  Cutter(const Program& program, const TargetContext& context)
      : program_(program), graph_(program.graph), context_(context) {
    for (const Store& output : program.outputs) outputs_.insert(output.node);
    mark_needed();
  }

  std::vector<Roots> kernels(Fusing fusing) {
    for (const NodeId id : needed_) {
      if (is_heavy(graph_[id].op) || is_short_place(id)) start(id);
    }
    for (const NodeId id : outputs_) start(id);
    cut_below_windows();
    cut_large();
    std::ranges::sort(kernels_,
                      [](const Roots& a, const Roots& b) { return *a.rbegin() < *b.rbegin(); });
    loads_.clear();
    if (fusing == Fusing::Chains) {
      while (join_chain()) {
      }
    }
    if (fusing != Fusing::None && kernels_.size() <= kMostJoined) {
      while (join_once()) {
      }
    }
    return ordered();
  }

  Region region_of(const Roots& roots) const {
    Region region;
    region.graph = &graph_;
    region.name = program_.names.kernel;
    region.numbers = &program_.numbers;
    region.taken = program_.names.taken;
    region.loads = program_.inputs;
    for (const Roots& other : kernels_) {
      for (const NodeId id : other) {
        if (program_.inputs.count(id) == 0) region.loads[id] = memory_of(id);
      }
    }
    for (const NodeId id : roots) {
      if (program_.inputs.count(id) == 0) region.loads.erase(id);
    }
    for (const Store& output : program_.outputs) {
      if (roots.count(output.node) > 0) region.stores.push_back(output);
    }
    for (const NodeId id : roots) {
      if (outputs_.count(id) == 0) region.stores.push_back({id, memory_of(id)});
    }
    return region;
  }

  /// The buffer in which other kernels find the node's value.
  Buffer memory_of(NodeId id) const {
    for (const Store& output : program_.outputs) {
      if (output.node == id) return output.to;
    }
    std::string name = fmt::format("{}_{}", graph::op_info(graph_[id].op).name, id);
    while (program_.names.taken.count(name) > 0) name += "_";
    return {name, graph_[id].dtype, graph_[id].shape};
  }

  /// Whether it is a position in a window, stored as a byte for other kernels; see
  /// short_places.cpp.
  bool is_short_place(NodeId id) const {
    if (graph_[id].op != Op::Cast || graph_[id].dtype != DType::Int8) return false;
    const Op below = graph_[graph_[id].inputs[0]].op;
    return below == Op::ArgMax || below == Op::ArgMin;
  }

  bool is_output(NodeId id) const { return outputs_.count(id) > 0; }

 private:
  void mark_needed() {
    std::vector<NodeId> open(outputs_.begin(), outputs_.end());
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (!needed_.insert(id).second) continue;
      for (const NodeId input : graph_[id].inputs) open.push_back(input);
    }
  }

  void start(NodeId id) {
    for (const Roots& roots : kernels_) {
      if (roots.count(id) > 0) return;
    }
    kernels_.push_back({id});
  }

  /// The node below all movement and all casts that lose nothing.
  NodeId moved_from(NodeId id) const {
    for (;;) {
      const Node& node = graph_[id];
      const bool widens = node.op == Op::Cast && is_half(graph_[node.inputs[0]].dtype);
      const bool moves = graph::op_info(node.op).kind == OpKind::Movement && !is_heavy(node.op) &&
                         node.inputs.size() == 1;
      if (!widens && !moves) return id;
      id = node.inputs[0];
    }
  }

  /// The heavy nodes that are reached from here through pointwise ops and movement.
  std::set<NodeId> heavy_below(NodeId id) const {
    std::set<NodeId> seen, heavy;
    std::vector<NodeId> open = {id};
    while (!open.empty()) {
      const NodeId one = open.back();
      open.pop_back();
      if (!seen.insert(one).second) continue;
      if (is_heavy(graph_[one].op)) {
        heavy.insert(one);
        continue;
      }
      for (const NodeId input : graph_[one].inputs) open.push_back(input);
    }
    return heavy;
  }

  // A window's element is read once per window, and once more per tile of a product. Values
  // computed from it are therefore computed earlier, best by the kernel of its operands. The same
  // holds for values between two products: as an operand they would be computed once per tile.
  void cut_below_windows() {
    std::set<NodeId> into_products;
    for (auto id = needed_.rbegin(); id != needed_.rend(); ++id) {
      const Node& node = graph_[*id];
      const bool product = node.op == Op::MatMul || into_products.count(*id) > 0;
      if (product && (node.op == Op::MatMul || !is_heavy(node.op))) {
        into_products.insert(node.inputs.begin(), node.inputs.end());
      }
      if (node.op != Op::Window && node.op != Op::MatMul) continue;
      for (const NodeId input : node.inputs) {
        const NodeId from = moved_from(input);
        if (graph::op_info(graph_[from].op).kind != OpKind::Pointwise) continue;
        const std::set<NodeId> below = heavy_below(from);
        const bool follows_product = !below.empty() && std::ranges::all_of(below, [&](NodeId one) {
          return graph_[one].op == Op::MatMul;
        });
        const bool cut = node.op == Op::Window ? product || !below.empty() : follows_product;
        if (!cut || program_.inputs.count(from) > 0) continue;
        start(from);
        kept_.insert(from);
      }
    }
  }

  // A value that unrolled code would compute too often is stored in memory.
  void cut_large() {
    for (size_t k = 0; k < kernels_.size();) {
      const std::optional<NodeId> cut = cut_of(kernels_[k]);
      if (cut) {
        kernels_.push_back({*cut});
      } else {
        ++k;
      }
    }
  }

  std::optional<NodeId> cut_of(const Roots& roots) const {
    const Region region = region_of(roots);
    Emitter e(region);
    e.budget = kMostStatements;
    std::vector<std::string> variables;
    for (const Store& store : region.stores) {
      Index index;
      for (size_t d = 0; d < store.to.shape.size(); ++d) {
        variables.push_back(fmt::format("d{}", d));
        e.ranges.insert_or_assign(variables.back(), store.to.shape[d]);
        index.push_back(variable(variables.back()));
      }
      e.open(variables, 0);
      e.value(store.node, index);
      if (e.overflowed()) return best_cut(region, e, roots);
    }
    return std::nullopt;
  }

  bool can_be_cut(NodeId id, OpKind kind, const Region& region, const Roots& roots) const {
    return roots.count(id) == 0 && region.loads.count(id) == 0 &&
           graph::op_info(graph_[id].op).kind == kind;
  }

  // A result of arithmetic; where there is none, of a movement, such as a pad of a pad.
  std::optional<NodeId> best_cut(const Region& region, const Emitter& e, const Roots& roots) const {
    const std::optional<NodeId> cut = best_cut(region, e, roots, OpKind::Pointwise);
    return cut ? cut : best_cut(region, e, roots, OpKind::Movement);
  }

  std::optional<NodeId> best_cut(const Region& region, const Emitter& e, const Roots& roots,
                                 OpKind kind) const {
    std::optional<NodeId> best;
    double best_distance = 0;
    for (const auto& [id, times] : e.used().instances) {
      if (times < 2 || !can_be_cut(id, kind, region, roots)) continue;
      const double distance = std::fabs(std::log2(times) - std::log2(kMostStatements) / 2);
      if (!best || distance < best_distance) {
        best = id;
        best_distance = distance;
      }
    }
    if (best) return best;
    std::vector<NodeId> chain = interior(region);
    std::erase_if(chain, [&](NodeId id) { return !can_be_cut(id, kind, region, roots); });
    if (chain.empty()) return std::nullopt;
    return chain[chain.size() / 2];
  }

  /// The nodes that kernel k reads from memory; cached until the kernels change.
  const std::set<NodeId>& loads_of(size_t k) const {
    if (loads_.size() != kernels_.size()) loads_.assign(kernels_.size(), std::nullopt);
    if (loads_[k]) return *loads_[k];
    const Region region = region_of(kernels_[k]);
    std::set<NodeId> found;
    for (const NodeId id : interior(region)) {
      for (const NodeId input : graph_[id].inputs) {
        if (region.loads.count(input) > 0) found.insert(input);
      }
    }
    loads_[k] = std::move(found);
    return *loads_[k];
  }

  // Whether kernel b reads a result of kernel a.
  bool reads(size_t b, size_t a) const {
    const std::set<NodeId>& loads = loads_of(b);
    return std::ranges::any_of(kernels_[a], [&](NodeId id) { return loads.count(id) > 0; });
  }

  // Whether kernel b reads a result of kernel a that must stay in memory (kept_).
  bool reads_kept(size_t b, size_t a) const {
    const std::set<NodeId>& loads = loads_of(b);
    return std::ranges::any_of(
        kernels_[a], [&](NodeId id) { return kept_.count(id) > 0 && loads.count(id) > 0; });
  }

  // Whether a also reaches b through a third kernel; joining them would create a cycle.
  bool other_way(size_t a, size_t b) const {
    std::set<size_t> behind;
    for (size_t k = 0; k < kernels_.size(); ++k) {
      if (k != a && k != b && reads(k, a)) behind.insert(k);
    }
    for (bool grew = true; grew;) {
      grew = false;
      for (size_t k = 0; k < kernels_.size(); ++k) {
        if (k == a || k == b || behind.count(k) > 0) continue;
        for (const size_t other : behind) {
          if (!reads(k, other)) continue;
          behind.insert(k);
          grew = true;
          break;
        }
      }
    }
    return std::ranges::any_of(behind, [&](size_t k) { return reads(b, k); });
  }

  bool wanted_elsewhere(NodeId id, size_t a, size_t b) const {
    if (is_output(id)) return true;
    for (size_t k = 0; k < kernels_.size(); ++k) {
      if (k == a || k == b) continue;
      if (loads_of(k).count(id) > 0) return true;
    }
    return false;
  }

  // Joins a product, the reductions it reads and the products those read. No schedule accepts only
  // two of them.
  bool join_chain() {
    for (size_t b = 0; b < kernels_.size(); ++b) {
      if (graph_[*kernels_[b].rbegin()].op != Op::MatMul) continue;
      const std::set<size_t> chain = chain_before(b);
      if (chain.empty()) continue;
      Roots all;
      for (const size_t k : chain) all.insert(kernels_[k].begin(), kernels_[k].end());
      if (refused_.count({all, kernels_[b]}) > 0) continue;
      if (try_chain(chain, b)) return true;
      refused_.insert({all, kernels_[b]});
    }
    return false;
  }

  std::set<size_t> chain_before(size_t b) const {
    std::set<size_t> chain;
    std::vector<size_t> open = {b};
    while (!open.empty()) {
      const size_t k = open.back();
      open.pop_back();
      for (size_t a = 0; a < kernels_.size(); ++a) {
        if (a == b || chain.count(a) > 0 || !reads(k, a)) continue;
        const OpKind kind = graph::op_info(graph_[*kernels_[a].rbegin()].op).kind;
        if (kind == OpKind::Reduction) open.push_back(a);
        const bool product = kind == OpKind::Contraction && k != b;
        if (product || kind == OpKind::Reduction) chain.insert(a);
      }
    }
    return chain;
  }

  bool try_chain(const std::set<size_t>& chain, size_t b) {
    for (const size_t k : chain) {
      for (const NodeId id : kernels_[k]) {
        if (is_output(id) || kept_.count(id) > 0) return false;
        for (size_t other = 0; other < kernels_.size(); ++other) {
          const bool inside = other == b || chain.count(other) > 0;
          if (!inside && loads_of(other).count(id) > 0) return false;
        }
      }
    }
    const std::vector<Roots> before = kernels_;
    const Roots roots = kernels_[b];
    for (auto k = chain.rbegin(); k != chain.rend(); ++k) {
      kernels_.erase(kernels_.begin() + static_cast<long>(*k));
    }
    loads_.clear();
    const std::vector<const Schedule*> rows = schedules_for(region_of(roots), context_);
    if (!rows.empty() && rows.front()->fuses) return true;
    kernels_ = before;
    loads_.clear();
    return false;
  }

  bool join_once() {
    for (size_t b = 0; b < kernels_.size(); ++b) {
      for (size_t a = b; a-- > 0;) {
        if (refused_.count({kernels_[a], kernels_[b]}) > 0) continue;
        if (try_join(a, b)) return true;
        refused_.insert({kernels_[a], kernels_[b]});
      }
    }
    return false;
  }

  bool try_join(size_t a, size_t b) {
    const bool feeds = reads(b, a);
    if (!feeds && !shares_input(a, b)) return false;
    if (feeds && reads_kept(b, a)) return false;
    if (other_way(a, b) || (!feeds && other_way(b, a))) return false;
    Roots roots = kernels_[b];
    for (const NodeId id : kernels_[a]) {
      if (wanted_elsewhere(id, a, b)) roots.insert(id);
    }
    const std::vector<Roots> before = kernels_;
    kernels_[b] = roots;
    kernels_.erase(kernels_.begin() + static_cast<long>(a));
    loads_.clear();
    const Region region = region_of(roots);
    const std::vector<const Schedule*> rows = schedules_for(region, context_);
    if (!rows.empty() && rows.front()->fuses) return true;
    kernels_ = before;
    loads_.clear();
    return false;
  }

  // Two kernels over the same elements that read the same tensors are faster as one.
  bool shares_input(size_t a, size_t b) const {
    if (graph_[*kernels_[a].rbegin()].shape.size() != graph_[*kernels_[b].rbegin()].shape.size()) {
      return false;
    }
    const std::set<NodeId>&one = loads_of(a), &other = loads_of(b);
    return std::ranges::any_of(one, [&](NodeId id) { return other.count(id) > 0; });
  }

  /// The kernels in order: each after those it reads.
  std::vector<Roots> ordered() {
    std::vector<Roots> out;
    std::vector<bool> done(kernels_.size(), false);
    while (out.size() < kernels_.size()) {
      for (size_t k = 0; k < kernels_.size(); ++k) {
        if (done[k]) continue;
        bool ready = true;
        for (size_t other = 0; other < kernels_.size(); ++other) {
          if (other != k && !done[other] && reads(k, other)) ready = false;
        }
        if (!ready) continue;
        done[k] = true;
        out.push_back(kernels_[k]);
      }
    }
    return out;
  }

  const Program& program_;
  const Graph& graph_;
  const TargetContext& context_;
  std::set<NodeId> outputs_, needed_;
  std::set<NodeId> kept_;  // stay in memory: windows and products read them
  std::vector<Roots> kernels_;
  mutable std::vector<std::optional<std::set<NodeId>>> loads_;
  std::set<std::pair<Roots, Roots>> refused_;
};

/// Whether the region reads the buffer it writes only at the same element, before the new value.
bool reads_before_writing(const Region& region, const Store& store) {
  if (!heavy_nodes(region).empty()) return false;
  bool same = true;
  for (const Store& other : region.stores) {
    Emitter e(region);
    const Domain domain = make_domain(store.to.shape, "_d");
    if (!graph::count_of(other.to.shape).same_text(graph::count_of(store.to.shape))) return false;
    std::vector<std::string> variables;
    for (const Axis& dim : domain.dims) variables.push_back(dim.name);
    e.ranges = ranges_of(domain);
    e.open(variables, 0);
    const Dim here = linear(domain.shape, domain.index);
    e.on_load = [&](const Buffer& buffer, const Dim& address) -> std::optional<Value> {
      same = same && (buffer.name != store.to.name || address.same_text(here));
      return Value{{"0"}, 1};
    };
    e.value(other.node, reshaped(domain.shape, domain.index, other.to.shape, e.ranges));
  }
  return same;
}

/// Whether another region reads the value that the caller passed. The new value has another node.
bool is_read_by_others(const Partition& partition, size_t own, const Store& store) {
  for (size_t k = 0; k < partition.regions.size(); ++k) {
    const Region& region = partition.regions[k];
    if (k == own) continue;
    std::vector<NodeId> wanted;
    for (const NodeId id : interior(region)) {
      const auto& inputs = region.node(id).inputs;
      wanted.insert(wanted.end(), inputs.begin(), inputs.end());
    }
    for (const Store& other : region.stores) wanted.push_back(other.node);
    for (const NodeId id : wanted) {
      const auto load = region.loads.find(id);
      if (load == region.loads.end() || id == store.node) continue;
      if (load->second.name == store.to.name) return true;
    }
  }
  return false;
}

/// Regions that read the value find it in the new buffer.
void move_value(Partition& partition, const Store& from, const Buffer& to) {
  for (Region& region : partition.regions) {
    const auto load = region.loads.find(from.node);
    if (load != region.loads.end() && load->second.name == from.to.name) load->second = to;
  }
}

/// A result that replaces an input is written over it if no kernel can still read the old values.
/// Otherwise it is written to scratch and copied at the end.
void place_results(Partition& partition, const Program& program, std::set<std::string>& taken) {
  std::vector<Region> copies;
  for (size_t k = 0; k < partition.regions.size(); ++k) {
    for (size_t s = 0; s < partition.regions[k].stores.size(); ++s) {
      Store& store = partition.regions[k].stores[s];
      if (program.names.in_place.count(store.to.name) == 0) continue;
      const bool direct = !is_read_by_others(partition, k, store) &&
                          reads_before_writing(partition.regions[k], store);
      if (direct) {
        partition.regions[k].in_place.insert(store.to.name);
        continue;
      }
      Region copy = partition.regions[k];
      copy.stores = {store};
      copy.in_place.clear();
      Buffer next = store.to;
      next.name = safe_name(store.to.name + "_next", taken);
      move_value(partition, store, next);
      store.to = next;
      partition.scratch.push_back(store.to);
      copy.loads = {{store.node, store.to}};
      copies.push_back(std::move(copy));
    }
  }
  for (Region& copy : copies) partition.regions.push_back(std::move(copy));
}

/// Whether a dim has a name like a tunable's: "WIDTH", not "W".
bool has_word(const std::set<std::string>& dims) {
  return std::ranges::any_of(dims, [](const std::string& dim) {
    return dim.size() > 2 &&
           std::ranges::none_of(dim, [](unsigned char c) { return std::islower(c) != 0; });
  });
}

}  // namespace

Partition make_partition(const Program& program, const TargetContext& context, Fusing fusing) {
  Cutter cutter(program, context);
  Partition out;
  std::set<std::string> taken = program.names.taken;
  for (const Roots& roots : cutter.kernels(fusing)) {
    out.regions.push_back(cutter.region_of(roots));
    for (const Store& store : out.regions.back().stores) {
      if (cutter.is_output(store.node)) continue;
      out.scratch.push_back(store.to);
      taken.insert(store.to.name);
    }
  }
  place_results(out, program, taken);
  if (has_word(program.names.dims)) out.regions[0].suffix = "_1";
  for (size_t k = 1; k < out.regions.size(); ++k) {
    out.regions[k].name = safe_name(fmt::format("{}_{}", program.names.kernel, k + 1), taken);
    out.regions[k].suffix = fmt::format("_{}", k + 1);
  }
  for (Region& region : out.regions) region.taken = taken;
  return out;
}

}  // namespace kw::generate
