// The problem: an operand must be in shared memory in the layout that the product reads. The
// choice: a step's elements go through registers, in packs if memory allows, and are transposed on
// the way. The alternative, asynchronous copies, would save registers, but cannot convert or
// transpose. The cost: registers for one step of both operands.
#include "matmul/matmul_operand.h"

#include <fmt/core.h>

namespace kw::generate {

Staged::Staged(const Region& region, const Product& product, bool left, DType sums)
    : region_(region), product_(product), operand_(product.operand(left)), sums_(sums) {}

int64_t Staged::pack() const { return 16 / static_cast<int64_t>(tensor::dtype_size(sums_)); }

/// "kLeftVec", "kRightPacks".
std::string Staged::constant(const char* what) const {
  return fmt::format("k{}{}", operand_.left ? "Left" : "Right", what);
}

std::string Staged::extent() const {
  return operand_.left ? product_.m().text() : product_.columns();
}

/// The name of a thread's copy of an axis.
std::string Staged::own(const std::string& axis) const {
  return fmt::format("{}_{}", operand_.tile, axis);
}

// Scopes: 1 is the block's position, 2 one element.
void Staged::prepare(Emitter& e) {
  const int scope = e.open(operand_.view.variables(), 1, 2);
  find_packs(e);
  if (!packed_) lookup_ = Lookup::find(region_, operand_, e);
  if (lookup_) {
    e.close();
    return;
  }
  const Value value = e.value(operand_.node, operand_.view.index);
  if (packed_) {
    e.at(scope).line("next_{}[element] = load_pack<{}>({} + {});", operand_.tile, constant("Vec"),
                     operand_.buffer, e.text(operand_.address));
  } else {
    e.at(scope).line("next_{}[element].at[0] = {};", operand_.tile, value.expr.text);
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

void Staged::write_shared(CudaWriter& w) const {
  w.line("__shared__ __align__(16) {} {}[2][kK][{} + 4];", type(), operand_.tile, size());
  if (lookup_) lookup_->write_shared(w);
}

/// The side's index at a position of the tile. Beyond the end it is the last one, whose results are
/// not stored.
void Staged::write_side(CudaWriter& w, const std::string& at) const {
  w.line("const Index wish = first_{} + {};", operand_.left ? "m" : "n", at);
  w.line("const Index {0} = wish < {1} ? wish : {1} - {2};", side(), extent(),
         operand_.along_k ? "1" : constant("Vec"));
}

void Staged::write_places(CudaWriter& w, Emitter& e) const {
  const std::string inner = operand_.along_k ? "kK" : size();
  const std::string outer = operand_.along_k ? size() : "kK";
  w.line("constexpr int {} = {} / {};", constant("Width"), inner, constant("Vec"));
  w.line("constexpr int {} = ({} * {} + kThreads - 1) / kThreads;", constant("Packs"), outer,
         constant("Width"));
  w.line("constexpr int {0} = {1} > kThreads ? {1} / kThreads : 1;", constant("Across"),
         constant("Width"));
  w.line("constexpr int {0} = {1} < kThreads ? kThreads / {1} : 1;", constant("Down"),
         constant("Width"));
  w.line("Pack<{}, {}> next_{}[{}];", type(), constant("Vec"), operand_.tile, constant("Packs"));
  if (lookup_) {
    lookup_->write_columns(w, constant("Across"), [&](const std::string& at) {
      write_side(w, at);
      operand_.side().write(e, w);
    });
    return;
  }
  if (!has_own_place()) return;
  for (const Axis& axis : operand_.side().axes.axes)
    w.line("Index {}[{}];", own(axis.name), constant("Across"));
  const auto places = w.unrolled("for (int place = 0; place < {}; ++place)", constant("Across"));
  write_side(w, fmt::format("(threadIdx.x % {} + place * kThreads) * {}", constant("Width"),
                            constant("Vec")));
  operand_.side().write(e, w);
  for (const Axis& axis : operand_.side().axes.axes)
    w.line("{}[place] = {};", own(axis.name), axis.name);
}

// Adjacent threads take elements adjacent in memory. Values that depend only on the thread are the
// same for all its packs.
void Staged::write_loop(CudaWriter& w, const std::function<void()>& body) const {
  const auto loop = w.unrolled("for (int element = 0; element < {}; ++element)", constant("Packs"));
  w.line("const int {} = (threadIdx.x % {} + element % {} * kThreads) * {};",
         operand_.along_k ? "at_k" : "at", constant("Width"), constant("Across"), constant("Vec"));
  w.line("const int {} = threadIdx.x / {} + element / {} * {};", operand_.along_k ? "at" : "at_k",
         constant("Width"), constant("Across"), constant("Down"));
  body();
}

/// Whether a pack belongs to the tile: a small tile may have fewer packs than the block has
/// threads.
std::string Staged::is_within() const {
  const std::string outer = operand_.along_k ? size() : "kK";
  return fmt::format("kThreads <= {} * {} || {} < {}", outer, constant("Width"),
                     operand_.along_k ? "at" : "at_k", outer);
}

void Staged::write_fetch(CudaWriter& w, Emitter& e) const {
  write_loop(w, [&] {
    w.line("next_{}[element] = {{}};", operand_.tile);
    if (lookup_) {
      const auto inside = w.block("if ({})", is_within());
      lookup_->write_load(w, fmt::format("element % {}", constant("Across")),
                          fmt::format("next_{}[element].at[0]", operand_.tile), false);
      return;
    }
    w.line("const Index ki = from + at_k;");
    const auto inside = w.block("if ((whole || ki < end) && ({}))", is_within());
    if (has_own_place()) {
      for (const Axis& axis : operand_.side().axes.axes)
        w.line("const Index {} = {}[element % {}];", axis.name, own(axis.name), constant("Across"));
    } else {
      write_side(w, "at");
      operand_.side().write(e, w);
    }
    operand_.k().write(e, w);
    w.raw(element_);
  });
}

void Staged::write_keep(CudaWriter& w) const {
  write_loop(w, [&] {
    const auto inside = w.block("if ({})", is_within());
    if (!operand_.along_k) {
      w.line("*reinterpret_cast<Pack<{}, {}>*>(&{}[to][at_k][at]) = next_{}[element];", type(),
             constant("Vec"), operand_.tile, operand_.tile);
      return;
    }
    w.line("#pragma unroll");
    w.line("for (int i = 0; i < {0}; ++i) {1}[to][at_k + i][at] = next_{1}[element].at[i];",
           constant("Vec"), operand_.tile);
  });
}

}  // namespace kw::generate
