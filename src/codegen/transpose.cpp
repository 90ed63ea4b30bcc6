// Results whose last dim is not the one that is contiguous in the operands: tiles of 32 x 32
// elements pass through shared memory, so that both loads and stores run along memory. Everything
// that is done element by element before and after the permute is done on the way.
#include <fmt/core.h>

#include <algorithm>

#include "codegen/domain.h"
#include "codegen/move_schedules.h"
#include "codegen/row_loop.h"
#include "codegen/settle.h"
#include "codegen/types.h"

namespace kw::codegen {

using graph::NodeId;
using graph::Op;
using tensor::DType;

namespace {

/// The permute whose operand is read along another dim than the result is written.
struct Turned {
  NodeId node = 0;
  size_t along = 0;  // dim of the result in which the operand's memory is contiguous
};

/// Where the loads below a node step by single elements: a dim of the result, or nothing.
std::optional<size_t> contiguous_dim(const Region& region, NodeId node, const Domain& domain) {
  Emitter e(region);
  e.ranges = ranges_of(domain);
  std::vector<std::string> names;
  for (const Axis& axis : domain.dims) names.push_back(axis.name);
  e.open(names, 0);
  std::set<size_t> dims;
  bool odd = false;
  e.on_load = [&](NodeId, const Buffer&, const Dim& address) -> std::optional<Value> {
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

/// Permutes that only pointwise work lies above.
std::set<NodeId> permutes_under(const Region& region, NodeId node) {
  if (region.loads.count(node) > 0) return {};
  if (region.node(node).op == Op::Permute) return {node};
  if (graph::op_info(region.node(node).op).kind != graph::OpKind::Pointwise) return {};
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

class Transpose {
 public:
  explicit Transpose(const Region& region)
      : region_(region),
        turned_(*turned_of(region)),
        domain_(make_domain(region.node(region.stores[0].node).shape, "i")),
        e_(region, 1) {
    e_.ranges = ranges_of(domain_);
    last_ = domain_.dims.back().name;
    along_ = fmt::format("i{}", turned_.along);
    for (const Axis& axis : domain_.dims) {
      if (axis.name == last_) width_ = axis.extent;
      if (axis.name == along_) height_ = axis.extent;
      if (axis.name != last_ && axis.name != along_) {
        others_.push_back(axis);
        count_ = count_ * axis.extent;
      }
    }
  }

  Kernel emit() {
    write_values();
    Kernel kernel;
    const std::string body = write_body();
    const Head head = head_of(e_, region_.name, "typename Index", "32 * " + name("TALL"));
    kernel.functions = e_.functions();
    kernel.source = fmt::format("// {}: tiles of 32 x 32 turned in shared memory.\n",
                                region_.stores[0].to.name) +
                    head.text + " {\n" + body + "}\n";
    kernel.tunes.push_back({name("TALL"), {8, 4, 16}, ""});
    kernel.tunes.push_back({name("PAD"), {1, 0}, ""});
    kernel.methods = {{"memory.coalesced_access", "", ""},
                      {"memory.tiling_smem", "", ""},
                      {"memory.bank_conflict", name("PAD") + " == 1", name("PAD") + "=0"},
                      {"memory.layout_transform_fusion", "", ""}};
    const std::string fits = fits_int(region_);
    if (!fits.empty()) kernel.variants.push_back(variant(fits, "int", head));
    kernel.variants.push_back(variant("", fits.empty() ? "int" : "long long", head));
    return kernel;
  }

 private:
  std::string name(const char* text) const { return text + region_.suffix; }
  /// Half types stay what they are in shared memory: half the traffic, the same values.
  DType kept_dtype() const { return region_.node(turned_.node).dtype; }

  Variant variant(const std::string& when, const std::string& index, const Head& head) const {
    return {when,
            {{fmt::format("{}<{}>", region_.name, index),
              fmt::format("{} * ceil_div({}, 32) * ceil_div({}, 32)", as_factor(count_),
                          height_.text(), width_.text()),
              "32, " + name("TALL"), "", head.args}}};
  }

  // Scopes: 1 is the tile's place, 2 an element.
  void write_values() {
    std::vector<std::string> outer;
    for (const Axis& axis : others_) outer.push_back(axis.name);
    e_.open(outer, 0, 0);
    height_text_ = e_.text(height_);
    width_text_ = e_.text(width_);
    for (const Axis& axis : others_) e_.note(axis.extent);
    int scope = e_.open({last_, along_}, 1, 2);
    const Value in = e_.value(turned_.node, domain_.index);
    e_.at(scope).line(fmt::format("tile[place][threadIdx.x] = {};", e_.stored(in, kept_dtype())));
    in_ = e_.close();
    scope = e_.open({last_, along_}, 1, 2);
    e_.on_node = [this, scope](NodeId id, const Index&) -> std::optional<Value> {
      if (id != turned_.node) return std::nullopt;
      return Value{{from_memory(kept_dtype(), "tile[threadIdx.x][place]")}, scope};
    };
    const Store& store = region_.stores[0];
    const Value value = e_.value(store.node, domain_.index);
    e_.touch(store.to);
    if (store.to.dtype == DType::E8m0) e_.need("to_exponent");
    e_.at(scope).line(fmt::format("{}[{}] = {};", store.to.name,
                                  e_.text(linear(store.to.shape, domain_.index)),
                                  e_.stored(value, store.to.dtype)));
    out_ = e_.close();
    outer_text_ = e_.close();
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    w.line(fmt::format("__shared__ {} tile[32][32 + {}];", memory_type(kept_dtype()), name("PAD")));
    w.line(fmt::format("const Index tiles = ({} + 31) / 32, stacks = ({} + 31) / 32;", width_text_,
                       height_text_));
    w.line("const Index first_column = blockIdx.x % tiles * 32;");
    w.line("const Index first_row = blockIdx.x / tiles % stacks * 32;");
    std::string left = "blockIdx.x / tiles / stacks";
    for (size_t a = others_.size(); a-- > 0;) {
      const std::string by = as_factor(others_[a].extent);
      w.line(a == 0 ? fmt::format("const Index {} = {};", others_[a].name, left)
                    : fmt::format("const Index {} = {} % {};", others_[a].name, left, by));
      left = fmt::format("{} / {}", left, by);
    }
    w.raw(outer_text_);
    write_pass(w, last_, "first_column + place", along_, "first_row + threadIdx.x", in_);
    w.line("__syncthreads();");
    write_pass(w, along_, "first_row + place", last_, "first_column + threadIdx.x", out_);
    return w.text();
  }

  /// One way through the tile: neighbouring threads are neighbours along `fast`.
  void write_pass(CudaWriter& w, const std::string& slow, const std::string& slow_at,
                  const std::string& fast, const std::string& fast_at, const std::string& body) {
    w.line("#pragma unroll");
    const auto loop = w.block(
        fmt::format("for (int place = threadIdx.y; place < 32; place += {})", name("TALL")));
    w.line(fmt::format("const Index {} = {}, {} = {};", slow, slow_at, fast, fast_at));
    const auto inside =
        w.block(fmt::format("if ({} < {} && {} < {})", last_, width_text_, along_, height_text_));
    w.raw(body);
  }

  const Region& region_;
  Turned turned_;
  Domain domain_;
  Emitter e_;
  std::string last_, along_;
  Dim width_{1}, height_{1}, count_{1};
  std::vector<Axis> others_;
  std::string height_text_, width_text_, in_, out_, outer_text_;
};

}  // namespace

bool transpose_applies(const Region& region, const Situation&) {
  return turned_of(region).has_value();
}

Kernel transpose_emit(const Region& region, const Situation& situation) {
  Kernel kernel = Transpose(region).emit();
  settle(kernel, situation);
  return kernel;
}

}  // namespace kw::codegen
