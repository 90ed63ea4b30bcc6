// The problem: a result whose last dim is not contiguous in the operands would load or store single
// elements far apart. The choice: square tiles pass through shared memory, so that loads and stores
// are both in memory order, in words of four bytes if elements are smaller. Element-wise work
// before and after the permute is done on the way. The alternative, a separate transpose, would
// read and write the tensor once more. The cost: a barrier per tile, and shared memory padded
// against bank conflicts.
#include <fmt/core.h>

#include <algorithm>

#include "core/check.h"
#include "elements/schedules.h"
#include "emit/emit.h"

namespace kw::generate {

namespace {

constexpr const char* kTurnedElement = "tile[fast + lane][place]";

/// The permute whose operand is read along another dim than the result is written.
struct Turned {
  NodeId node = 0;
  size_t along = 0;  // dim of the result in which the operand's memory is contiguous
};

/// The dim of the result along which the loads below a node step by one element; empty if there is
/// none.
std::optional<size_t> contiguous_dim(const Region& region, NodeId node, const Domain& domain) {
  Emitter e(region);
  e.ranges = ranges_of(domain);
  e.open(names_of(domain.dims), 0);
  std::set<size_t> dims;
  bool odd = false;
  e.on_load = [&](const Buffer&, const Dim& address) -> std::optional<Value> {
    for (const Axis& axis : domain.dims) {
      const auto step = coefficient(address, axis.name);
      if (step && step->same_text(Dim(1))) dims.insert(std::stoul(axis.name.substr(1)));
      odd = odd || !step;
    }
    return Value{{"x"}, 1};
  };
  e.value(node, domain.index);
  if (odd || dims.size() != 1 || e.overflowed()) return std::nullopt;
  return *dims.begin();
}

/// The permutes with only pointwise work above them.
std::set<NodeId> permutes_under(const Region& region, NodeId node) {
  if (region.loads.count(node) > 0) return {};
  if (region.node(node).op == Op::Permute) return {node};
  if (graph::op_info(region.node(node).op).kind != OpKind::Pointwise) return {};
  std::set<NodeId> found;
  for (const NodeId input : region.node(node).inputs) found.merge(permutes_under(region, input));
  return found;
}

std::optional<Turned> turned_of(const Region& region) {
  if (!heavy_nodes(region).empty() || region.stores.size() != 1 || !region.in_place.empty())
    return std::nullopt;
  const Store& store = region.stores[0];
  const Shape& shape = region.node(store.node).shape;
  const Domain domain = make_domain(shape, "i");
  if (domain.dims.size() < 2) return std::nullopt;
  const std::set<NodeId> permutes = permutes_under(region, store.node);
  if (permutes.size() != 1) return std::nullopt;
  const NodeId at = *permutes.begin();
  const auto along = contiguous_dim(region, at, domain);
  if (!along || fmt::format("i{}", *along) == domain.dims.back().name) return std::nullopt;
  return Turned{at, *along};
}

class Transpose : ScheduleFrame {
 public:
  Transpose(const Region& region, const TargetContext& context)
      : ScheduleFrame(region, context),
        switches_(context.switches),
        turned_(*turned_of(region)),
        domain_(make_domain(region.node(region.stores[0].node).shape, "i")),
        last_(domain_.dims.back().name),
        along_(fmt::format("i{}", turned_.along)),
        e_(region, 1),
        packs_in_(e_, along_, names_of(domain_.dims)),
        packs_out_(e_, last_, names_of(domain_.dims)),
        no_packs_(e_, last_) {
    e_.ranges = ranges_of(domain_);
    for (const Axis& axis : domain_.dims) {
      if (axis.name == last_) width_ = axis.extent;
      if (axis.name == along_) height_ = axis.extent;
      if (axis.name != last_ && axis.name != along_) others_.push_back(axis);
    }
  }

  Kernel emit() {
    write_values();
    const std::string body = write_body();
    const DeviceFunction function =
        kernel_.function(e_, kernel_.result() + ": square tiles turned in shared memory.",
                         region_.name, "typename Index, int kVec", "32 * " + name("TALL"), body);
    kernel_.need({"load_pack", "store_pack"});
    add_plan(function);
    return kernel_.finish();
  }

 private:
  /// Half types stay halves in shared memory: half the traffic, the same values.
  DType kept_dtype() const { return region_.node(turned_.node).dtype; }

  /// Whether nothing is computed before the tile: bits are copied unchanged.
  bool only_moved_in() const {
    const auto loaded = region_.loads.find(region_.node(turned_.node).inputs[0]);
    return loaded != region_.loads.end() && loaded->second.dtype == kept_dtype();
  }

  bool only_moved_out() const {
    const Store& store = region_.stores[0];
    return store.node == turned_.node && store.to.dtype == kept_dtype();
  }

  /// The number of elements in a word of four bytes: as many as keep rows of the tile in different
  /// banks.
  int64_t vec() const {
    int size =
        std::max(tensor::dtype_size(kept_dtype()), tensor::dtype_size(region_.stores[0].to.dtype));
    for (const Packs* packs : {&packs_in_, &packs_out_})
      for (const PackLoad& load : packs->loads())
        size = std::max(size, tensor::dtype_size(load.buffer.dtype));
    return packs_in_.loads().empty() || size >= 4 ? 1 : 4 / size;
  }

  void add_plan(const DeviceFunction& function) {
    const int64_t most = vec();
    if (most > 1) kernel_.vectors({most, 1});
    kernel_.tune("TALL", {8, 4, 16});
    const std::string pad = kernel_.tune("PAD", {1, 0}), tiled = name("TILED");
    const std::string on = switches_ ? tiled + " == 1" : "", off = switches_ ? tiled + "=0" : "";
    if (switches_) kernel_.tune("TILED", {1, 0});
    kernel_.method("memory.coalesced_access", on, off);
    kernel_.method("memory.tiling_smem", on, off);
    kernel_.method("memory.bank_conflict", all_of({pad + " == 1", on}), pad + "=0");
    if (!only_moved_in() || !only_moved_out()) kernel_.method("memory.layout_transform_fusion");
    std::vector<std::string> aligned = packs_in_.conditions(name("VEC"));
    for (const std::string& condition : packs_out_.conditions(name("VEC"))) {
      aligned.push_back(condition);
    }
    for (const Dim& side : {height_, width_}) {
      aligned.push_back(fmt::format("{} % {} == 0", as_factor(side), name("VEC")));
    }
    kernel_.each_variant(most > 1, aligned, [&](const Instance& instance) -> std::vector<Launch> {
      const std::string side = instance.packed ? fmt::format("(32 * {})", instance.vec) : "32";
      return {function.launch(
          instance.types(),
          fmt::format("{} * ceil_div({}, {}) * ceil_div({}, {})", as_factor(count_of(others_)),
                      height_.text(), side, width_.text(), side),
          "32, " + name("TALL"))};
    });
  }

  // Scopes: 1 is the tile's position, 2 a pack, 3 an element of it, along the dim of packs.
  void open_pack(const std::string& inner) {
    e_.rename = {{inner, variable(inner) + variable(kLane)}};
    pack_scope_ = e_.open({last_, along_}, 1, 2);
    lane_scope_ = e_.open({inner, kLane}, pack_scope_);
    e_.on_load = [this, inner](const Buffer& buffer, const Dim& address) -> std::optional<Value> {
      Packs& packs = inner == last_ ? packs_out_ : packs_in_;
      const auto element = packs.element(buffer, address, "[u]");
      if (!element) return std::nullopt;
      e_.note(address);
      if (inner == along_ && only_moved_in()) {
        moved_ = *element;
        return Value{{"element"}, lane_scope_};
      }
      return Value{{from_memory(buffer.dtype, *element)}, lane_scope_};
    };
  }

  void write_values() {
    e_.open(names_of(others_), 0, 0);
    height_text_ = e_.text(height_);
    width_text_ = e_.text(width_);
    open_pack(along_);
    const Value in = e_.value(turned_.node, domain_.index);
    e_.at(lane_scope_)
        .line("tile[place][fast + lane] = {};",
              moved_.empty() ? e_.stored(in, kept_dtype()) : moved_);
    in_ = write_pack("", "");
    open_pack(last_);
    e_.on_node = [this](NodeId id, const Index&) -> std::optional<Value> {
      if (id != turned_.node) return std::nullopt;
      return Value{{from_memory(kept_dtype(), kTurnedElement)}, lane_scope_};
    };
    const Store& store = region_.stores[0];
    const Dim address = linear(store.to.shape, domain_.index);
    const Value value = e_.value(store.node, domain_.index);
    e_.touch(store.to);
    e_.note(address);
    KW_CHECK(packs_out_.can_store(address), "a result is contiguous along its last dim");
    if (store.to.dtype == DType::E8m0) e_.need("to_exponent");
    const std::string pack = e_.fresh(store.to.name + "_pack");
    e_.at(lane_scope_)
        .line("{}.at[lane] = {};", pack,
              only_moved_out() ? kTurnedElement : e_.stored(value, store.to.dtype));
    const std::string declared =
        fmt::format("Pack<{}, kVec> {};", memory_type(store.to.dtype), pack);
    const std::string stored =
        fmt::format("store_pack({} + {}, {});", store.to.name, address.text(), pack);
    out_ = write_pack(declared, stored);
    if (switches_) {
      open_pack(last_);
      e_.on_load = nullptr;
      e_.on_node = nullptr;
      const Value direct = e_.value(store.node, domain_.index);
      e_.at(lane_scope_).line("{}.at[lane] = {};", pack, e_.stored(direct, store.to.dtype));
      direct_ = write_pack(declared, stored);
    }
    outer_text_ = e_.close();
  }

  /// The statements for a pack after its load; closes its scopes.
  std::string write_pack(const std::string& before, const std::string& behind) {
    const std::string lanes = e_.close(), own = e_.close();
    CudaWriter w(3);
    w.raw(own);
    if (!before.empty()) w.line(before);
    {
      const auto loop = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
      w.raw(lanes);
    }
    if (!behind.empty()) w.line(behind);
    return w.text();
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    w.line("constexpr int kSide = 32 * kVec, kTurns = kSide / {};", name("TALL"));
    w.line("__shared__ {} tile[kSide][kSide + {}];", memory_type(kept_dtype()), name("PAD"));
    w.line("const int fast = threadIdx.x * kVec;");
    w.line("const Index tiles = ({} + kSide - 1) / kSide;", width_text_);
    w.line("const Index stacks = ({} + kSide - 1) / kSide;", height_text_);
    w.line("const Index first_column = blockIdx.x % tiles * kSide;");
    w.line("const Index first_row = blockIdx.x / tiles % stacks * kSide;");
    write_axes(others_, "blockIdx.x / tiles / stacks", e_, w);
    w.raw(outer_text_);
    if (switches_) {
      const auto inside = w.block("if (!{})", name("TILED"));
      write_pass(w, no_packs_, along_, "first_row + place", last_, "first_column + fast", direct_);
      w.line("return;");
    }
    write_pass(w, packs_in_, last_, "first_column + place", along_, "first_row + fast", in_);
    w.line("__syncthreads();");
    write_pass(w, packs_out_, along_, "first_row + place", last_, "first_column + fast", out_);
    return w.text();
  }

  /// One pass through the tile: adjacent threads are adjacent along `fast`. All loads are in flight
  /// before the first one is needed.
  void write_pass(CudaWriter& w, const Packs& packs, const std::string& slow,
                  const std::string& slow_at, const std::string& fast, const std::string& fast_at,
                  const std::string& body) {
    const auto place = [&] {
      w.line("const int place = threadIdx.y + u * {};", name("TALL"));
      w.line("const Index {} = {}, {} = {};", slow, slow_at, fast, fast_at);
    };
    const std::string guard =
        fmt::format("{} < {} && {} < {}", last_, width_text_, along_, height_text_);
    packs.write_ahead(w, "kTurns", place, guard);
    const auto loop = w.unrolled("for (int u = 0; u < kTurns; ++u)");
    place();
    const auto inside = w.block("if ({})", guard);
    w.raw(body);
  }

  bool switches_;  // the tile can be switched off (TILED)
  Turned turned_;
  Domain domain_;
  std::string last_, along_;
  Emitter e_;
  Packs packs_in_, packs_out_, no_packs_;
  int pack_scope_ = 0, lane_scope_ = 0;
  Dim width_{1}, height_{1};
  std::vector<Axis> others_;
  std::string height_text_, width_text_, in_, out_, direct_, outer_text_;
  std::string moved_;  // the element that is copied to the tile; empty if it is computed
};

bool transpose_applies(const Region& region, const TargetContext&) {
  return turned_of(region).has_value();
}

}  // namespace

Schedules transpose_schedules() {
  return {{"transpose", "tiles turned in shared memory", transpose_applies, emit_by<Transpose>}};
}

}  // namespace kw::generate
