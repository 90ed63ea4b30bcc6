// The problem: a scatter per result would search all sources for each result. The choice: a first
// launch has a thread per source. It adds sums atomically to scratch, or keeps the largest source
// position if the last writer wins, so equal indices give one answer in every order. A second
// launch computes the results. Sums into few results first go to a copy in each block's shared
// memory. The alternative, sorting the sources, needs several passes. The cost: float sums are kept
// in fp64, so that the order of blocks does not show in fp32. fp64 results, and tasks that require
// equal bits, use other schedules; integer sums are the same in every order.
#include <fmt/core.h>

#include "elements/schedules.h"
#include "emit/emit.h"

namespace kw::generate {

using graph::ScatterMode;

namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostShared = 48 << 10;  // available to a block without opt-in
constexpr int64_t kWorthIt = 16;           // sources per result

class Scatter : ScheduleFrame {
 public:
  Scatter(const Region& region, NodeId id, const TargetContext& context)
      : ScheduleFrame(region, context),
        id_(id),
        node_(region.node(id)),
        adds_(node_.attrs.scatter == ScatterMode::Add) {}

  Kernel emit() {
    write();
    return kernel_.take();
  }

  /// The same with a copy of the results in every block.
  Kernel emit_by_block() {
    write();
    const DeviceFunction gather = write_gather();
    const std::string threads = kernel_.tune("THREADS", {512, 256, 1024});
    const std::string blocks = kernel_.tune("BLOCKS", {4, 2, 8, 0});
    kernel_.switch_method("latency.atomic_optimize", "SHARED");
    kernel_.method("latency.persistent_kernel", blocks + " > 0", blocks + "=0");
    const std::string all = fmt::format("ceil_div({}, {})", count_text(sources()), threads);
    // Only the first launch differs from the existing variant.
    kernel_.put_first(
        all_of({fmt::format("{} <= {}", bytes_text(), kMostShared), fits_int(region_)}),
        gather.launch("int", fmt::format("pick({0} == 0, min({1}, SMS * {0}), {1})", blocks, all),
                      threads, fmt::format("{} * {}", name("SHARED"), bytes_text())));
    return kernel_.finish();
  }

  /// Whether the sums have so few results that every block can have its own copy of them.
  bool few_places() const {
    const int64_t places = graph::count_of(node_.shape).value();
    return adds_ && places * tensor::dtype_size(scratch_dtype()) <= kMostShared &&
           graph::count_of(sources()).value() >= kWorthIt * places;
  }

 private:
  void write() {
    kernel_.scratch(scratch(), scratch_dtype(), count_text(node_.shape), "= 0");
    kernel_.method("memory.coalesced_access");
    const DeviceFunction spread = write_spread(), finish = write_finish();
    const auto grid = [](const Shape& shape) {
      return fmt::format("ceil_div({}, {})", count_text(shape), kThreads);
    };
    const std::string threads = std::to_string(kThreads);
    kernel_.each_index([&](const Instance& instance) -> std::vector<Launch> {
      return {spread.launch(instance.index, grid(sources()), threads),
              finish.launch(instance.index, grid(region_.stores[0].to.shape), threads)};
    });
  }

  std::string bytes_text() const {
    return fmt::format("{} * {}", as_factor(graph::count_of(node_.shape)),
                       tensor::dtype_size(scratch_dtype()));
  }
  std::string scratch() const { return scratch_name(region_, "found"); }
  /// Sums of floats are in fp64; positions are counted from 1.
  DType scratch_dtype() const {
    if (!adds_) return DType::Uint64;
    if (in_float(node_.dtype)) return DType::Fp64;
    return tensor::dtype_size(node_.dtype) == 8 ? DType::Uint64 : DType::Int32;
  }
  static std::string count_text(const Shape& shape) { return graph::count_of(shape).text(); }
  const Shape& sources() const { return region_.node(node_.inputs[1]).shape; }
  size_t along() const { return static_cast<size_t>(node_.attrs.dims[0]); }

  /// The head of a kernel with a thread per element of `shape`, with variables for its dims.
  static void write_place(CudaWriter& w, Emitter& e, const Domain& domain) {
    w.line("const Index i = static_cast<Index>(blockIdx.x) * {} + threadIdx.x;", kThreads);
    w.line("if (i >= {}) return;", e.text(graph::count_of(domain.shape)));
    write_axes(domain.dims, "i", e, w);
  }

  /// The update of `found` by a source element; closes its scope.
  std::string write_source(Emitter& e, const Domain& domain, int depth) const {
    const int scope = e.open(names_of(domain.dims), 0, depth);
    const Value to = e.value(node_.inputs[1], domain.index);
    const std::string picked = e.fresh_variable("picked", scope);
    e.at(scope).line("const Index {} = static_cast<Index>({});", picked, to.expr.text);
    Index at = domain.index;
    at[along()] = variable(picked);
    const std::string address = e.text(linear(node_.shape, at));
    if (adds_) {
      const Value source = e.value(node_.inputs[2], domain.index);
      e.at(scope).line("atomicAdd(&found[{}], static_cast<{}>({}));", address,
                       register_type(scratch_dtype()), source.expr.text);
    } else {
      e.at(scope).line("atomicMax(&found[{}], static_cast<unsigned long long>(i) + 1);", address);
    }
    return e.close();
  }

  DeviceFunction write_spread() {
    const Domain domain = make_domain(sources(), "i");
    Emitter e(region_, 1);
    e.ranges = ranges_of(domain);
    const std::string body = write_source(e, domain, 0);
    CudaWriter w(1);
    w.raw(e.at(0).text());
    write_place(w, e, domain);
    w.raw(body);
    return kernel_.function(
        e,
        fmt::format("A thread per source element {}.",
                    adds_ ? "adds it where it belongs" : "claims its place; the last one gets it"),
        region_.name + "_spread", "typename Index", std::to_string(kThreads), w.text(),
        {{fmt::format("{}* found", register_type(scratch_dtype())), scratch()}});
  }

  DeviceFunction write_gather() {
    const Domain domain = make_domain(sources(), "i");
    Emitter e(region_, 1);
    e.ranges = ranges_of(domain);
    const std::string body = write_source(e, domain, 1);
    const std::string type = register_type(scratch_dtype()), threads = name("THREADS");
    const std::string shared = name("SHARED");
    CudaWriter w(1);
    w.raw(e.at(0).text());
    w.line("extern __shared__ __align__(16) unsigned char pool[];");
    w.line("{0}* own = reinterpret_cast<{0}*>(pool);", type);
    w.line("{}* found = {} ? own : sums;", type, shared);
    w.line("const Index places = {}, count = {};", e.text(graph::count_of(node_.shape)),
           e.text(graph::count_of(domain.shape)));
    const std::string each =
        fmt::format("for (Index at = threadIdx.x; at < places; at += {})", threads);
    {
      const auto clear = w.block("if ({})", shared);
      w.line(each + " own[at] = 0;");
      w.line("__syncthreads();");
    }
    w.line("const Index step = static_cast<Index>(gridDim.x) * {};", threads);
    w.line("#pragma unroll 4");
    {
      const auto loop = w.block(
          "for (Index i = static_cast<Index>(blockIdx.x) * {} + threadIdx.x; i < count; i += step)",
          threads);
      write_axes(domain.dims, "i", e, w);
      w.raw(body);
    }
    {
      const auto hand_in = w.block("if ({})", shared);
      w.line("__syncthreads();");
      const auto loop = w.block(each);
      w.line("if (own[at] != 0) atomicAdd(&sums[at], own[at]);");
    }
    return kernel_.function(e, "A block adds its share of the sources in shared memory.",
                            region_.name + "_gather", "typename Index", threads, w.text(),
                            {{fmt::format("{}* sums", type), scratch()}});
  }

  DeviceFunction write_finish() {
    const Domain domain = make_domain(region_.stores[0].to.shape, "i");
    Emitter e(region_, 1);
    e.ranges = ranges_of(domain);
    const int scope = e.open(names_of(domain.dims), 0, 0);
    e.on_node = [&](NodeId id, const Index& at) -> std::optional<Value> {
      if (id != id_) return std::nullopt;
      return scattered(e, at, scope);
    };
    for (const Store& store : region_.stores) {
      const Value value = e.value(store.node, domain.index);
      e.store(scope, store, linear(store.to.shape, domain.index), value);
    }
    const std::string body = e.close();
    CudaWriter w(1);
    w.raw(e.at(0).text());
    write_place(w, e, domain);
    w.raw(body);
    return kernel_.function(
        e, kernel_.result() + ": the base and what was found for it.", region_.name,
        "typename Index", std::to_string(kThreads), w.text(),
        {{fmt::format("const {}* found", register_type(scratch_dtype())), scratch()}});
  }

  Value scattered(Emitter& e, const Index& at, int scope) const {
    const Value base = e.value(node_.inputs[0], at);
    const std::string entry =
        e.if_inside(fmt::format("found[{}]", e.text(linear(node_.shape, at))), "0");
    if (adds_) {
      const std::string type = register_type(node_.dtype);
      const std::string found =
          in_float(node_.dtype) ? entry : fmt::format("static_cast<{}>({})", type, entry);
      return {{fmt::format("static_cast<{}>({} + {})", type, base.expr.operand(), found)}, scope};
    }
    const std::string winner = e.fresh_variable("winner", scope);
    e.at(scope).line("const Index {} = static_cast<Index>({});", winner, entry);
    const Emitter::Guarded source = e.under(winner + " > 0", scope, [&] {
      const Index from = unravel(variable(winner) - Dim(1), sources(), e.ranges);
      return e.value(node_.inputs[2], from);
    });
    return source.or_else(base);
  }

  NodeId id_;
  const Node& node_;
  bool adds_;
};

std::optional<NodeId> scatter_of(const Region& region) {
  const std::vector<NodeId> heavy = heavy_nodes(region);
  if (heavy.size() != 1 || region.node(heavy[0]).op != Op::Scatter || !region.in_place.empty())
    return std::nullopt;
  for (const Store& store : region.stores)
    if (!same_shape(store.to.shape, region.stores[0].to.shape)) return std::nullopt;
  return heavy[0];
}

bool scatter_applies(const Region& region, const TargetContext& context) {
  const auto id = scatter_of(region);
  if (!id) return false;
  const Node& node = region.node(*id);
  if (node.attrs.scatter == ScatterMode::Set) return true;
  if (node.attrs.scatter != ScatterMode::Add || node.dtype == DType::Bool) return false;
  if (node.dtype == DType::Fp64) return false;
  return !(in_float(node.dtype) && context.precision.deterministic);
}

bool scatter_block_applies(const Region& region, const TargetContext& context) {
  return scatter_applies(region, context) &&
         Scatter(region, *scatter_of(region), context).few_places();
}

}  // namespace

Schedules scatter_schedules() {
  return {{"scatter_block", "every block adds in a copy of its own", scatter_block_applies,
           [](const Region& region, const TargetContext& context) {
             return Scatter(region, *scatter_of(region), context).emit_by_block();
           }},
          {"scatter", "a thread per source element, then one per result", scatter_applies,
           [](const Region& region, const TargetContext& context) {
             return Scatter(region, *scatter_of(region), context).emit();
           }}};
}

}  // namespace kw::generate
