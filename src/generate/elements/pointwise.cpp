// The problem: element-wise kernels are limited by memory. The choice: every thread computes UNROLL
// packs of VEC adjacent elements, with all loads issued before any arithmetic. Broadcasts are found
// by joining dims to as few axes as the accesses allow. The alternative, a thread per element, has
// too few bytes in flight. The cost: variants for aligned packs, single elements and large indices.
#include <fmt/core.h>

#include <algorithm>

#include "core/contains.h"
#include "elements/schedules.h"
#include "emit/emit.h"

namespace kw::generate {

namespace {

/// The values of every store at the domain's index, for one run over the region's elements.
class Elements {
 public:
  explicit Elements(const Region& region) : region_(region) {
    domain_ = make_domain(region.node(before_reshapes(region, region.stores[0].node)).shape, "i");
  }

  const Domain& domain() const { return domain_; }
  NodeId node_of(const Store& store) const { return before_reshapes(region_, store.node); }
  Index index_of(const Store& store) const {
    return reshaped(domain_.shape, domain_.index, region_.node(node_of(store)).shape,
                    ranges_of(domain_));
  }
  /// The address in every store: all have the domain's elements in its order.
  Dim address() const { return linear(domain_.shape, domain_.index); }
  std::vector<std::string> variables() const { return names_of(domain_.dims); }

  /// Indices used when every store is computed; empty if there are too many statements.
  std::optional<std::vector<Dim>> used() const {
    Emitter e(region_);
    e.ranges = ranges_of(domain_);
    e.budget = kMostStatements;
    e.open(variables(), 0);
    for (const Store& store : region_.stores) {
      e.value(node_of(store), index_of(store));
      e.text(address());
    }
    if (e.overflowed()) return std::nullopt;
    return e.used().indices;
  }

 private:
  const Region& region_;
  Domain domain_;
};

class Pointwise : ScheduleFrame {
 public:
  Pointwise(const Region& region, const TargetContext& context, bool loops)
      : ScheduleFrame(region, context),
        loops_(loops),
        elements_(region),
        e_(region, 1),
        axes_(axes_of(elements_)),
        inner_(axes_.axes.back().name),
        packs_(e_, inner_, names_of(axes_.axes)) {
    e_.ranges = ranges_of(elements_.domain());
    e_.rename = axes_.rename;
  }

  Kernel emit() {
    write_values();
    const std::string body = write_body();
    const DeviceFunction function = kernel_.function(
        e_, summary(), region_.name, "typename Index, int kVec", name("THREADS"), body);
    kernel_.need({"load_pack", "store_pack"});
    add_plan(function);
    return kernel_.take();
  }

 private:
  static Joined axes_of(const Elements& elements) {
    const std::vector<Dim> used = *elements.used();
    const Joined axes = joined(elements.domain(), used, {"column", "row"});
    return axes.axes.size() > 1 ? axes : joined(elements.domain(), used, {"i"});
  }

  /// The last axis inside a pack runs over lanes.
  Dim in_pack(const Dim& renamed) const {
    return substitute(renamed, {{inner_, variable(inner_) + variable(kLane)}});
  }

  // Scopes: 1 is a pack, 2 an element of it.
  void write_values() {
    std::vector<std::string> outer = elements_.variables();
    for (const Axis& axis : axes_.axes) outer.push_back(axis.name);
    pack_scope_ = e_.open(outer, 0, loops_ ? 3 : 2);
    lane_scope_ = e_.open({kLane}, pack_scope_);
    if (!elements_.domain().dims.empty()) move_inner_to_lanes();
    e_.on_load = [this](const Buffer& buffer, const Dim& address) { return load(buffer, address); };
    for (const Store& store : region_.stores) {
      const Dim address = substitute(elements_.address(), axes_.rename);
      vector_store_ = packs_.can_store(address) && vector_store_;
      const Value value = e_.value(elements_.node_of(store), elements_.index_of(store));
      const std::string pack = e_.fresh(store.to.name + "_pack");
      e_.touch(store.to);
      stores_.push_back({store.to, address, pack});
      e_.at(lane_scope_).line("{}.at[{}] = {};", pack, kLane, e_.stored(value, store.to.dtype));
    }
    lane_text_ = e_.close();
    pack_text_ = e_.close();
  }

  // The innermost dim's variable belongs to the element, all others to its pack.
  void move_inner_to_lanes() {
    e_.set_level(elements_.domain().dims.back().name, lane_scope_);
    for (const auto& [name, to] : axes_.rename) {
      if (mentions(to, inner_)) e_.set_level(name, lane_scope_);
    }
    e_.rename = axes_.rename;
    for (auto& [name, to] : e_.rename) to = in_pack(to);
  }

  std::optional<Value> load(const Buffer& buffer, const Dim& address) {
    const auto value = packs_.value(buffer, address, axes_.rename, lane_scope_);
    if (!value) scattered_ = scattered_ || mentions(substitute(address, axes_.rename), inner_);
    return value;
  }

  /// The running index itself, if the address is nothing else.
  std::string position(const Dim& address) const {
    Dim whole(0);
    for (const Axis& axis : axes_.axes) whole = whole * axis.extent + variable(axis.name);
    return address.same_text(whole) ? "i" : address.text();
  }

  void write_axes(CudaWriter& w) {
    if (axes_.axes.size() == 1) return;
    std::string left = "i";
    for (size_t a = axes_.axes.size(); a-- > 0;) {
      const Axis& axis = axes_.axes[a];
      const std::string extent = e_.text(axis.extent);
      const bool simple = axis.extent.terms().size() == 1 && extent.find('*') == std::string::npos;
      const std::string by = simple ? extent : "(" + extent + ")";
      w.line(a == 0 ? fmt::format("const Index {} = {};", axis.name, left)
                    : fmt::format("const Index {} = {} % {};", axis.name, left, by));
      left = a + 1 == axes_.axes.size() ? "i / " + by : fmt::format("{} / {}", left, by);
    }
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    w.line("const Index count = {};", e_.text(count_of(axes_.axes)));
    const std::string tile = fmt::format("({} * {} * kVec)", name("THREADS"), name("UNROLL"));
    const std::string start =
        fmt::format("static_cast<Index>(blockIdx.x) * {} + threadIdx.x * kVec", tile);
    if (loops_) {
      w.line("const Index step = static_cast<Index>(gridDim.x) * {};", tile);
      const auto block = w.block("for (Index first = {}; first < count; first += step)", start);
      write_tile(w);
    } else {
      w.line("const Index first = {};", start);
      write_tile(w);
    }
    return w.text();
  }

  void write_tile(CudaWriter& w) {
    const std::string unroll = name("UNROLL");
    const std::string head = fmt::format("for (int u = 0; u < {}; ++u)", unroll);
    const std::string at = fmt::format("const Index i = first + u * ({} * kVec);", name("THREADS"));
    if (!packs_.loads().empty()) {
      for (const PackLoad& load : packs_.loads())
        w.line("Pack<{}, kVec> {}[{}];", memory_type(load.buffer.dtype), load.name, unroll);
      const auto loop = w.unrolled(head);
      w.line(at);
      const auto inside = w.block("if (i < count)");
      write_axes(w);
      for (const PackLoad& load : packs_.loads()) {
        w.line("{}[u] = load_pack<kVec>({} + {});", load.name, load.buffer.name,
               position(load.address));
      }
    }
    const auto loop = w.unrolled(head);
    w.line(at);
    const auto inside = w.block("if (i < count)");
    write_axes(w);
    w.raw(pack_text_);
    for (const PackStore& store : stores_)
      w.line("Pack<{}, kVec> {};", memory_type(store.to.dtype), store.pack);
    {
      const auto lanes = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
      w.raw(lane_text_);
    }
    for (const PackStore& store : stores_)
      w.line("store_pack({} + {}, {});", store.to.name, position(store.address), store.pack);
  }

  std::string summary() const {
    return fmt::format("{}: every thread computes {} packs of kVec elements{}", kernel_.results(),
                       name("UNROLL"), loops_ ? ",\nand the grid walks over all of them." : ".");
  }

  void add_plan(const DeviceFunction& function) {
    int widest = 1, narrowest = 16;
    const auto size = [&](DType dtype) {
      widest = std::max(widest, tensor::dtype_size(dtype));
      narrowest = std::min(narrowest, tensor::dtype_size(dtype));
    };
    for (const PackLoad& load : packs_.loads()) size(load.buffer.dtype);
    for (const Store& store : region_.stores) size(store.to.dtype);
    std::vector<int64_t> vecs;
    for (const int64_t vec : {16 / narrowest, 16 / widest, 1}) {
      if (!contains(vecs, vec)) vecs.push_back(vec);
    }
    if (!vector_store_) vecs = {1};
    if (scattered_) std::rotate(vecs.begin(), vecs.end() - 1, vecs.end());
    using Values = std::vector<int64_t>;
    kernel_.tune("THREADS", context_.alone ? Values{256, 128, 512, 1024} : Values{256});
    kernel_.vectors(vecs);
    kernel_.unroll(context_.alone ? Values{1, 2, 4} : Values{1, 2});
    if (!scattered_) kernel_.method("memory.coalesced_access");
    if (interior(region_).size() > 1) kernel_.method("memory.kernel_fusion");
    if (loops_) kernel_.method("latency.persistent_kernel");
    const std::string total = count_of(axes_.axes).text();
    const auto launches = [&](const Instance& instance) -> std::vector<Launch> {
      std::string grid = fmt::format("ceil_div({}, {} * {}{})", total, name("THREADS"),
                                     name("UNROLL"), instance.packed ? " * " + instance.vec : "");
      Launch launch = function.launch(instance.types(), grid, name("THREADS"));
      if (loops_)
        launch.grid = fmt::format("min({}, SMS * blocks_per_sm({}))", grid, launch.kernel);
      return {launch};
    };
    kernel_.each_variant(vecs.size() > 1, packs_, as_factor(axes_.axes.back().extent), launches);
  }

  bool loops_;
  Elements elements_;
  Emitter e_;
  Joined axes_;
  std::string inner_;
  Packs packs_;
  int pack_scope_ = 0, lane_scope_ = 0;
  bool vector_store_ = true, scattered_ = false;
  std::vector<PackStore> stores_;
  std::string lane_text_, pack_text_;
};

bool pointwise_applies(const Region& region, const TargetContext&) {
  if (!heavy_nodes(region).empty()) return false;
  const Dim count = graph::count_of(region.root().shape);
  for (const Store& store : region.stores) {
    if (!graph::count_of(region.node(store.node).shape).same_text(count)) return false;
  }
  return Elements(region).used().has_value();
}

}  // namespace

Schedules pointwise_schedules() {
  return {{"pointwise", "every thread computes a few packs of elements", pointwise_applies,
           emit_by<Pointwise, false>},
          {"pointwise_loop", "one wave of blocks walks over all packs", pointwise_applies,
           emit_by<Pointwise, true>}};
}

}  // namespace kw::generate
