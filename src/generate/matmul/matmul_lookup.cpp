// The problem: an operand that is read through windows needs divisions and bounds tests for each
// element. The choice: the parts of an address that depend on k are looked up in a small table, and
// bounds are bits of a word. The alternative, computing them in every step, costs more than the
// product. The cost: shared memory for the table, and at most 31 taps.
#include "matmul/matmul_lookup.h"

#include <fmt/core.h>

#include "graph/movement.h"

namespace kw::generate {

namespace {

constexpr int64_t kMostTaps = 31;  // bits of a word; the last one marks the end of k

/// Splits a sum into the terms with a name of `names` and the others; empty if a term has both.
std::optional<std::pair<Dim, Dim>> taken_apart(const Dim& sum, const std::set<std::string>& names,
                                               const std::set<std::string>& others) {
  Dim own(0), rest(0);
  for (const auto& [factors, number] : sum.terms()) {
    Dim term(number);
    bool has_own = false, has_other = false;
    for (const std::string& factor : factors) {
      term = term * Dim::symbol(factor, 1);
      for (const std::string& word : identifiers(factor)) {
        has_own = has_own || names.count(word) > 0;
        has_other = has_other || others.count(word) > 0;
      }
    }
    if (has_own && has_other) return std::nullopt;
    (has_own ? own : rest) = (has_own ? own : rest) + term;
  }
  return std::pair{own, rest};
}

std::set<std::string> names_of(const AxisRun& run) {
  std::set<std::string> names;
  for (const Axis& axis : run.axes.axes) names.insert(axis.name);
  return names;
}

}  // namespace

bool is_moved(const Region& region, NodeId id) {
  while (region.loads.count(id) == 0) {
    const Node& node = region.node(id);
    const bool widens = node.op == Op::Cast && is_half(region.node(node.inputs[0]).dtype) &&
                        node.dtype == DType::Fp32;
    const bool fills = node.op == Op::Pad && node.attrs.number != 0;
    if (!widens && (fills || !graph::only_moves(node.op))) return false;
    id = node.inputs[0];
  }
  return true;
}

std::string Lookup::own(const char* what) const {
  return fmt::format("{}_{}", operand_.tile, what);
}

std::string Lookup::Tap::bit(const std::string& tap) const {
  if (first_bit == 0) return "1u << " + tap;
  return fmt::format("1u << ({} + {})", tap, first_bit);
}

std::optional<Lookup> Lookup::find(const Region& region, const ProductOperand& operand,
                                   Emitter& e) {
  if (operand.k().is_whole() || !is_moved(region, operand.node)) return {};
  Emitter trial(region);
  trial.ranges = e.ranges;
  trial.rename = e.rename;
  trial.open(operand.view.variables(), 0);
  trial.value(operand.node, operand.view.index);
  if (trial.used().accesses.size() != 1 || !trial.used().accesses[0].bounded) return {};
  const Access& access = trial.used().accesses[0];
  const auto apart = taken_apart(substitute(access.address, e.rename), names_of(operand.k()),
                                 names_of(operand.side()));
  Lookup found(operand);
  if (!apart || !found.find_taps(access, e)) return {};
  found.buffer_ = access.buffer.name;
  found.dtype_ = access.buffer.dtype;
  e.touch(access.buffer);
  if (found.dtype_ == DType::E8m0) e.need("from_exponent");
  e.need("place_of");
  e.need("Pack");
  found.row_ = e.text(apart->first);
  found.column_ = e.text(apart->second);
  return found;
}

bool Lookup::find_taps(const Access& access, Emitter& e) {
  int64_t bits = 0;
  for (const Bound& bound : access.bounds) {
    const Dim index = substitute(bound.index, e.rename);
    Tap tap{e.text(index), e.text(bound.front), e.text(bound.end), {"", Dim(1)}, true, bits};
    // Takes the axis with the fewest taps: windows are smaller than the dims they move over.
    for (const AxisRun* run : {&operand_.k(), &operand_.side()}) {
      std::vector<Axis> mentioned;
      for (const Axis& axis : run->axes.axes) {
        if (mentions(index, axis.name)) mentioned.push_back(axis);
      }
      if (mentioned.size() != 1 || !mentioned[0].extent.is_constant()) continue;
      const bool fewer = mentioned[0].extent.value() < tap.axis.extent.value();
      if (!tap.axis.name.empty() && !fewer) continue;
      tap.axis = mentioned[0];
      tap.of_row = run == &operand_.k();
    }
    if (tap.axis.name.empty()) return false;
    bits += tap.axis.extent.value();
    if (bits > kMostTaps) return false;
    taps_.push_back(tap);
  }
  return true;
}

void Lookup::write_shared(CudaWriter& w) const {
  w.line("__shared__ Pack<Index, 2> {}[2][kK];", own("table"));
  if (!operand_.along_k) return;
  w.line("__shared__ Pack<Index, 2> {}[{}];", own("columns"), size());
}

std::string Lookup::size() const { return operand_.left ? "kM" : "kN"; }

void Lookup::write_columns(CudaWriter& w, const std::string& count,
                           const std::function<void(const std::string&)>& find) const {
  if (operand_.along_k) {
    const auto loop = w.block("for (int at = threadIdx.x; at < {}; at += kThreads)", size());
    find("at");
    w.line("unsigned int taps = 1u << {};", kMostTaps);
    write_taps(w, "taps", false);
    w.line("{}[at].at[0] = {};", own("columns"), column_);
    w.line("{}[at].at[1] = static_cast<Index>(taps);", own("columns"));
    return;
  }
  w.line("Index {}[{}];", own("base"), count);
  w.line("unsigned int {}[{}];", own("taps"), count);
  const auto loop = w.unrolled("for (int place = 0; place < {}; ++place)", count);
  find(fmt::format("threadIdx.x % {} + place * kThreads", size()));
  w.line("{}[place] = {};", own("base"), column_);
  w.line("{}[place] = 1u << {};", own("taps"), kMostTaps);
  write_taps(w, own("taps") + "[place]", false);
}

void Lookup::write_taps(CudaWriter& w, const std::string& word, bool row) const {
  for (const Tap& tap : taps_) {
    if (tap.of_row == row) {
      w.line("{} |= {};", word, tap.bit(tap.axis.name));
      continue;
    }
    const auto loop = w.unrolled("for (int tap = 0; tap < {}; ++tap)", tap.axis.extent.text());
    w.line("const Index {} = tap;", tap.axis.name);
    w.line("const bool inside = {0} >= {1} && {0} < {2};", tap.index, tap.front, tap.end);
    w.line("if (!inside) {} |= {};", word, tap.bit("tap"));
  }
}

void Lookup::write_rows(CudaWriter& w, Emitter& e) const {
  const auto first = w.block("if (threadIdx.x < kK)");
  w.line("const Index ki = from + threadIdx.x;");
  operand_.k().write(e, w);
  w.line("unsigned int taps = ki < end ? 0 : 1u << {};", kMostTaps);
  write_taps(w, "taps", true);
  w.line("{}[to][threadIdx.x].at[0] = {};", own("table"), row_);
  w.line("{}[to][threadIdx.x].at[1] = static_cast<Index>(taps);", own("table"));
}

void Lookup::write_load(CudaWriter& w, const std::string& place, const std::string& to,
                        bool as_memory) const {
  w.line("const Pack<Index, 2> found = {}[turn][at_k];", own("table"));
  std::string base = fmt::format("{}[{}]", own("base"), place);
  std::string taps = fmt::format("{}[{}]", own("taps"), place);
  if (operand_.along_k) {
    w.line("const Pack<Index, 2> column = {}[at];", own("columns"));
    base = "column.at[0]";
    taps = "static_cast<unsigned int>(column.at[1])";
  }
  const std::string element = fmt::format("{}[place_of({} + found.at[0])]", buffer_, base);
  w.line("const unsigned int outside = {} & static_cast<unsigned int>(found.at[1]);", taps);
  w.line("if (outside == 0) {} = {};", to, as_memory ? element : from_memory(dtype_, element));
}

}  // namespace kw::generate
