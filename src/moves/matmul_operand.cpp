#include "moves/matmul_operand.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace kw::moves {

using graph::Node;
using graph::NodeId;
using graph::Op;
using tensor::DType;

namespace {

constexpr int64_t kMostTaps = 32;  // bits of a word

/// Whether the node is nothing but elements of one buffer, moved, and zeros.
bool is_moved(const Region& region, NodeId id) {
  while (region.loads.count(id) == 0) {
    const Node& node = region.node(id);
    switch (node.op) {
      case Op::Reshape:
      case Op::Permute:
      case Op::Expand:
      case Op::Slice:
      case Op::Flip:
      case Op::Window:
        break;
      case Op::Pad:
        if (node.attrs.number != 0) return false;
        break;
      case Op::Cast:
        if (!is_half(region.node(node.inputs[0]).dtype)) return false;
        break;
      default:
        return false;
    }
    id = node.inputs[0];
  }
  return true;
}

/// The terms in which a name of `names` stands, and the others; nothing where a term has both.
std::optional<std::pair<Dim, Dim>> taken_apart(const Dim& sum, const std::set<std::string>& names,
                                               const std::set<std::string>& others) {
  Dim own(0), rest(0);
  for (const auto& [factors, number] : sum.terms()) {
    Dim term(number);
    bool has_own = false, has_other = false;
    for (const std::string& factor : factors) {
      term = term * Dim::symbol(factor, 1);
      for (const std::string& word : emit::identifiers(factor)) {
        has_own = has_own || names.count(word) > 0;
        has_other = has_other || others.count(word) > 0;
      }
    }
    if (has_own && has_other) return std::nullopt;
    (has_own ? own : rest) = (has_own ? own : rest) + term;
  }
  return std::pair{own, rest};
}

std::set<std::string> names_of(const Run& run) {
  std::set<std::string> names;
  for (const Axis& axis : run.axes.axes) names.insert(axis.name);
  return names;
}

std::string bit(const std::string& tap, const Lookup::Bound& bound) {
  if (bound.first_bit == 0) return "1u << " + tap;
  return fmt::format("1u << ({} + {})", tap, bound.first_bit);
}

}  // namespace

Staged::Staged(const Region& region, const Product& product, bool left, DType sums)
    : region_(region), product_(product), operand_(product.operand(left)), sums_(sums) {}

int64_t Staged::pack() const { return 16 / static_cast<int64_t>(tensor::dtype_size(sums_)); }

/// "kLeftVec", "kRightPacks".
std::string Staged::constant(const char* what) const {
  return fmt::format("k{}{}", operand_.left ? "Left" : "Right", what);
}

std::string Staged::extent() const {
  return operand_.left ? product_.m().text() : product_.n().text();
}

/// What a thread keeps of an axis of its places.
std::string Staged::own(const std::string& axis) const {
  return fmt::format("{}_{}", operand_.tile, axis);
}

// Scopes: 1 is the block's place, 2 one element.
void Staged::prepare(Emitter& e) {
  const int scope = e.open(operand_.variables(), 1, 2);
  find_packs(e);
  if (!packed_) lookup_ = find_lookup(e);
  if (lookup_) {
    e.close();
    return;
  }
  const Value value = e.value(operand_.node, operand_.view.index);
  if (packed_) {
    e.at(scope).line(fmt::format("next_{}[element] = load_pack<{}>({} + {});", operand_.tile,
                                 constant("Vec"), operand_.buffer, e.text(operand_.address)));
  } else {
    e.at(scope).line(fmt::format("next_{}[element].at[0] = {};", operand_.tile, value.expr.text));
  }
  element_ = e.close();
}

void Staged::find_packs(Emitter& e) {
  if (!operand_.direct || region_.node(operand_.node).dtype != sums_) return;
  const Axis& inner = operand_.inner_run().inner();
  Packs packs(e, inner.name);
  packed_ = packs.can_store(substitute(operand_.address, e.rename));
  if (!packed_) return;
  conditions_ = packs.conditions(std::to_string(pack()));
  conditions_.push_back(fmt::format("({}) % {} == 0", inner.extent.text(), pack()));
}

std::optional<Lookup> Staged::find_lookup(Emitter& e) const {
  if (operand_.along_k || operand_.k().is_whole() || !is_moved(region_, operand_.node)) return {};
  Emitter trial(region_);
  trial.ranges = e.ranges;
  trial.rename = e.rename;
  trial.open(operand_.variables(), 0);
  trial.value(operand_.node, operand_.view.index);
  if (trial.accesses().size() != 1 || !trial.accesses()[0].bounded) return {};
  const emit::Access& access = trial.accesses()[0];
  const std::set<std::string> k = names_of(operand_.k()), side = names_of(operand_.side());
  const auto apart = taken_apart(substitute(access.address, e.rename), k, side);
  if (!apart) return {};
  Lookup found{access.buffer.name, access.buffer.dtype, "", "", {}};
  int64_t bits = 0;
  for (const emit::Bound& bound : access.bounds) {
    const Dim index = substitute(bound.index, e.rename);
    Lookup::Bound one{e.text(index), e.text(bound.front), e.text(bound.end), {}, bits};
    for (const Axis& axis : operand_.k().axes.axes) {
      if (!mentions(index, axis.name)) continue;
      if (!one.tap.name.empty() || !axis.extent.is_constant()) return {};
      one.tap = axis;
    }
    if (one.tap.name.empty()) one.tap = {"", Dim(1)};
    bits += one.tap.extent.value();
    if (bits > kMostTaps) return {};
    found.bounds.push_back(one);
  }
  e.touch(access.buffer);
  if (access.buffer.dtype == DType::E8m0) e.need("from_exponent");
  e.need("place_of");
  found.row = e.text(apart->first);
  found.column = e.text(apart->second);
  return found;
}

void Staged::write_shared(CudaWriter& w) const {
  w.line(
      fmt::format("__shared__ __align__(16) {} {}[2][kK][{} + 4];", type(), operand_.tile, size()));
  if (!lookup_) return;
  w.line(fmt::format("__shared__ Pack<Index, {}> {}[2][kK];", lookup_->bounds.empty() ? 1 : 2,
                     own("table")));
}

/// The side's number at a place of the tile; beyond the end the last one, whose results nobody
/// stores.
void Staged::write_side(CudaWriter& w, const std::string& at) const {
  w.line(fmt::format("const Index wish = first_{} + {};", operand_.left ? "m" : "n", at));
  w.line(fmt::format("const Index {0} = wish < {1} ? wish : {1} - {2};", side(), extent(),
                     operand_.along_k ? "1" : constant("Vec")));
}

void Staged::write_places(CudaWriter& w, Emitter& e) const {
  const std::string inner = operand_.along_k ? "kK" : size();
  const std::string outer = operand_.along_k ? size() : "kK";
  w.line(fmt::format("constexpr int {} = {} / {};", constant("Width"), inner, constant("Vec")));
  w.line(fmt::format("constexpr int {} = ({} * {} + kThreads - 1) / kThreads;", constant("Packs"),
                     outer, constant("Width")));
  w.line(fmt::format("constexpr int {0} = {1} > kThreads ? {1} / kThreads : 1;", constant("Across"),
                     constant("Width")));
  w.line(fmt::format("constexpr int {0} = {1} < kThreads ? kThreads / {1} : 1;", constant("Down"),
                     constant("Width")));
  w.line(fmt::format("Pack<{}, {}> next_{}[{}];", type(), constant("Vec"), operand_.tile,
                     constant("Packs")));
  if (!has_own_place() && !lookup_) return;
  std::vector<std::string> kept;
  for (const Axis& axis : operand_.side().axes.axes) kept.push_back(axis.name);
  if (lookup_) kept = {"base"};
  for (const std::string& name : kept) {
    w.line(fmt::format("Index {}[{}];", own(name), constant("Across")));
  }
  const bool bounded = lookup_ && !lookup_->bounds.empty();
  if (bounded) {
    w.line(fmt::format("unsigned int {}[{}] = {{}};", own("outside"), constant("Across")));
  }
  w.line("#pragma unroll");
  const auto places =
      w.block(fmt::format("for (int place = 0; place < {}; ++place)", constant("Across")));
  write_side(w, fmt::format("(threadIdx.x % {} + place * kThreads) * {}", constant("Width"),
                            constant("Vec")));
  operand_.side().write(e, w);
  if (!lookup_) {
    for (const std::string& name : kept) w.line(fmt::format("{}[place] = {};", own(name), name));
    return;
  }
  w.line(fmt::format("{}[place] = {};", own("base"), lookup_->column));
  for (const Lookup::Bound& bound : lookup_->bounds) {
    w.line("#pragma unroll");
    const auto taps =
        w.block(fmt::format("for (int tap = 0; tap < {}; ++tap)", bound.tap.extent.text()));
    if (!bound.tap.name.empty()) w.line(fmt::format("const Index {} = tap;", bound.tap.name));
    w.line(fmt::format("const bool inside = {0} >= {1} && {0} < {2};", bound.index, bound.front,
                       bound.end));
    w.line(fmt::format("if (!inside) {}[place] |= {};", own("outside"), bit("tap", bound)));
  }
}

void Staged::write_table(CudaWriter& w, Emitter& e) const {
  const auto first = w.block("if (threadIdx.x < kK)");
  w.line("const Index ki = from + threadIdx.x;");
  operand_.k().write(e, w);
  std::vector<std::string> bits;
  for (const Lookup::Bound& bound : lookup_->bounds) {
    bits.push_back(bit(bound.tap.name.empty() ? "0" : bound.tap.name, bound));
  }
  w.line(fmt::format("{}[to][threadIdx.x].at[0] = {};", own("table"), lookup_->row));
  if (bits.empty()) return;
  w.line(fmt::format("{}[to][threadIdx.x].at[1] = static_cast<Index>({});", own("table"),
                     kw::join(bits, " | ")));
}

// Neighbouring threads take what lies side by side in memory; all that depends on the thread alone
// is the same for all its packs.
void Staged::write_loop(CudaWriter& w, const std::function<void()>& body) const {
  w.line("#pragma unroll");
  const auto loop =
      w.block(fmt::format("for (int element = 0; element < {}; ++element)", constant("Packs")));
  w.line(fmt::format("const int {} = (threadIdx.x % {} + element % {} * kThreads) * {};",
                     operand_.along_k ? "at_k" : "at", constant("Width"), constant("Across"),
                     constant("Vec")));
  w.line(fmt::format("const int {} = threadIdx.x / {} + element / {} * {};",
                     operand_.along_k ? "at" : "at_k", constant("Width"), constant("Across"),
                     constant("Down")));
  body();
}

/// Whether a pack is one of the tile's: a small one may have fewer than the block has threads.
std::string Staged::is_within() const {
  const std::string outer = operand_.along_k ? size() : "kK";
  return fmt::format("kThreads <= {} * {} || {} < {}", outer, constant("Width"),
                     operand_.along_k ? "at" : "at_k", outer);
}

void Staged::write_fetch(CudaWriter& w, Emitter& e) const {
  write_loop(w, [&] {
    w.line(fmt::format("next_{}[element] = {{}};", operand_.tile));
    w.line("const Index ki = from + at_k;");
    const auto inside = w.block(fmt::format("if ((whole || ki < end) && ({}))", is_within()));
    if (lookup_) {
      write_looked_up(w);
      return;
    }
    if (has_own_place()) {
      for (const Axis& axis : operand_.side().axes.axes) {
        w.line(fmt::format("const Index {} = {}[element % {}];", axis.name, own(axis.name),
                           constant("Across")));
      }
    } else {
      write_side(w, "at");
      operand_.side().write(e, w);
    }
    operand_.k().write(e, w);
    w.raw(element_);
  });
}

void Staged::write_looked_up(CudaWriter& w) const {
  const std::string place = fmt::format("[element % {}]", constant("Across"));
  const bool bounded = !lookup_->bounds.empty();
  w.line(fmt::format("const Pack<Index, {}> row = {}[turn][at_k];", bounded ? 2 : 1, own("table")));
  const std::string load =
      fmt::format("next_{}[element].at[0] = {};", operand_.tile,
                  from_memory(lookup_->dtype, fmt::format("{}[place_of({}{} + row.at[0])]",
                                                          lookup_->buffer, own("base"), place)));
  if (!bounded) {
    w.line(load);
    return;
  }
  w.line(fmt::format("const unsigned int outside = {}{} & static_cast<unsigned int>(row.at[1]);",
                     own("outside"), place));
  w.line("if (outside == 0) " + load);
}

void Staged::write_keep(CudaWriter& w) const {
  write_loop(w, [&] {
    const auto inside = w.block(fmt::format("if ({})", is_within()));
    if (!operand_.along_k) {
      w.line(fmt::format("*reinterpret_cast<Pack<{}, {}>*>(&{}[to][at_k][at]) = next_{}[element];",
                         type(), constant("Vec"), operand_.tile, operand_.tile));
      return;
    }
    w.line("#pragma unroll");
    w.line(fmt::format(
        "for (int i = 0; i < {0}; ++i) {1}[to][at_k + i][at] = next_{1}[element].at[i];",
        constant("Vec"), operand_.tile));
  });
}

}  // namespace kw::moves
