// The problem: rows picked from tables (embedding, index_select, gather along a leading dim) start
// at an index read from memory. The choice: a group of threads reads the row's index once, then
// copies or computes the row in packs. The alternative, the pointwise schedule, reads the index
// again for every element. The cost: short rows leave lanes of a group idle, so the group's size is
// a tunable.
#include <fmt/core.h>

#include <algorithm>

#include "elements/schedules.h"
#include "emit/emit.h"

namespace kw::generate {

namespace {

class GatherRows : RowFrame {
 public:
  GatherRows(const Region& region, const TargetContext& context)
      : RowFrame(region, context,
                 RowLoop(region, region.stores[0].to.shape, region.stores[0].to.shape.size() - 1,
                         nodes_of(region), {})) {}

  /// Whether all stores and at least one load can use packs.
  bool packs() {
    write_values();
    return packs_.packed();
  }

  Kernel emit() {
    write_values();
    const std::string body = write_body();
    const DeviceFunction function = kernel_.function(
        e_,
        fmt::format("{}: {} threads look a row up and copy it.", kernel_.result(), name("LANES")),
        region_.name, "typename Index, int kVec", name("THREADS"), body);
    kernel_.need({"load_pack", "store_pack"});
    add_plan(function);
    return kernel_.finish();
  }

 private:
  static std::vector<NodeId> nodes_of(const Region& region) {
    std::vector<NodeId> nodes;
    for (const Store& store : region.stores) nodes.push_back(store.node);
    return nodes;
  }
  // Scopes: 1 is the row, 2 a pack, 3 an element of it.
  void write_values() {
    open_row();
    e_.on_load = [this](const Buffer& buffer, const Dim& address) { return load(buffer, address); };
    open_pack(3);
    for (const Store& store : region_.stores)
      packs_.store(store, loop_.index(), in_memory_, lane_scope_);
    lane_text_ = e_.close();
    pack_text_ = e_.close();
    row_text_ = e_.close();
  }

  std::optional<Value> load(const Buffer& buffer, const Dim& address) {
    const Dim renamed = substitute(address, in_memory_);
    // An index that is read for every element is known too late for packs.
    for (const std::string& word : identifiers(renamed.text())) {
      if (word != "column" && e_.level_of(variable(word)) == lane_scope_) return std::nullopt;
    }
    return packs_.value(buffer, address, in_memory_, lane_scope_);
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    const std::string lanes = name("LANES");
    w.line("const int member = threadIdx.x % {};", lanes);
    w.line("const Index row = static_cast<Index>(blockIdx.x) * ({0} / {1}) + threadIdx.x / {1};",
           name("THREADS"), lanes);
    w.line("if (row >= {}) return;", rows_);
    loop_.write_row(e_, w);
    w.raw(row_text_);
    const std::string each = fmt::format("for (int u = 0; u < {}; ++u)", name("UNROLL"));
    const std::string column =
        fmt::format("const Index column = start + (u * {} + member) * kVec;", lanes);
    {
      const auto loop = w.block("for (Index start = 0; start < {}; start += {} * {} * kVec)",
                                length_, lanes, name("UNROLL"));
      packs_.write_ahead(
          w, name("UNROLL"), [&] { w.line(column); }, fmt::format("column < {}", length_));
      const auto packs = w.unrolled(each);
      w.line(column);
      const auto inside = w.block("if (column < {})", length_);
      w.raw(pack_text_);
      packs_.write_stores(w, [&] {
        const auto elements = w.unrolled("for (int {0} = 0; {0} < kVec; ++{0})", kLane);
        w.raw(lane_text_);
      });
    }
    return w.text();
  }

  void add_plan(const DeviceFunction& function) {
    using Values = std::vector<int64_t>;
    const int64_t vec = packs_.width();
    const int64_t packs = (loop_.length().value() + vec - 1) / vec;
    int64_t lanes = 4;
    while (lanes < 128 && lanes < packs) lanes *= 2;
    kernel_.tune("THREADS", {256, 128});
    kernel_.vectors(vec > 1 ? Values{vec, 1} : Values{1});
    kernel_.tune("LANES", lanes > 4 ? Values{lanes, lanes / 2} : Values{lanes});
    kernel_.unroll(packs >= 2 * lanes ? Values{2, 1, 4} : Values{1, 2});
    kernel_.method("memory.coalesced_access");
    const std::string grid =
        fmt::format("ceil_div({}, {} / {})", loop_.rows().text(), name("THREADS"), name("LANES"));
    kernel_.each_variant(true, packs_, as_factor(loop_.length()),
                         [&](const Instance& instance) -> std::vector<Launch> {
                           return {function.launch(instance.types(), grid, name("THREADS"))};
                         });
  }
};

bool gather_rows_applies(const Region& region, const TargetContext& context) {
  if (!heavy_nodes(region).empty() || !region.in_place.empty()) return false;
  const Shape& shape = region.stores[0].to.shape;
  if (shape.size() < 2) return false;
  for (const Store& store : region.stores)
    if (!same_shape(store.to.shape, shape)) return false;
  bool picks = false;
  for (const NodeId id : interior(region)) {
    const Op op = region.node(id).op;
    picks = picks || op == Op::IndexSelect || op == Op::Gather;
  }
  return picks && GatherRows(region, context).packs();
}

}  // namespace

Schedules gather_schedules() {
  return {{"gather_rows", "a group of threads looks a row up and copies it", gather_rows_applies,
           emit_by<GatherRows>}};
}

}  // namespace kw::generate
