// The problem: a row's threads are a block, a few lanes or several blocks, and the passes over the
// row should not know which. The choice: this class writes the loops, and the passes give it the
// statements inside. The alternative, a kernel class per team, would repeat the passes. The cost: a
// case per team at each loop.
#include "rows/team_loops.h"

#include <fmt/core.h>

namespace kw::generate {

namespace {

Joined axes_of(const RowPlan& plan, const Domain& domain, const std::string& name) {
  const Joined one = joined(domain, plan.used, {name});
  if (one.axes.size() == 1) return one;
  return joined(domain, plan.used, {name + "_inner", name + "_outer"});
}

}  // namespace

TeamLoops::TeamLoops(const Region& region, const RowPlan& plan, Team team, bool registers,
                     Emitter& emitter)
    : rows(axes_of(plan, plan.rows, "row")),
      columns(axes_of(plan, plan.columns, "column")),
      region_(region),
      plan_(plan),
      team_(team),
      registers_(registers),
      e_(emitter) {}

std::string TeamLoops::tuned(const char* name) const { return name + region_.suffix; }

std::string TeamLoops::threads() const { return tuned(is_lanes() ? "LANES" : "THREADS"); }

void TeamLoops::write_columns(CudaWriter& w, const std::string& condition,
                              const std::function<void()>& inside) {
  const std::string count = e_.text(plan_.column_count());
  if (!registers_) {
    w.line("#pragma unroll 4");
    const auto loop =
        w.block("for (Index column = {}thread * kVec; column < {}; column += {} * kVec)",
                is_split() ? "first + " : "", is_split() ? "last" : count, threads());
    write_parts(columns.axes, "column", e_, w);
    if (condition.empty()) {
      inside();
      return;
    }
    const auto block = w.block("if ({})", condition);
    inside();
    return;
  }
  const auto loop = w.unrolled("for (int item = 0; item < kItems; ++item)");
  w.line("const Index column = (item * {} + thread) * kVec;", threads());
  // If the packs are the whole row, loads start without a test.
  const auto block =
      w.block("if ((kWhole || column < {}){})", count, condition.empty() ? "" : " && " + condition);
  write_parts(columns.axes, "column", e_, w);
  inside();
}

void TeamLoops::write_rows(CudaWriter& w, const std::string& values, bool shares) {
  if (is_split()) return write_split_row(w, values);
  if (is_lanes()) return write_lanes_rows(w, values);
  write_block_rows(w, values, shares);
}

void TeamLoops::write_block_rows(CudaWriter& w, const std::string& values, bool shares) {
  w.line("const int thread = threadIdx.x;");
  if (registers_) {
    w.line("const Index row = blockIdx.x;");
    write_parts(rows.axes, "row", e_, w);
    w.raw(values);
    return;
  }
  const std::string count = e_.text(plan_.row_count());
  const auto loop = w.block("for (Index row = blockIdx.x; row < {}; row += gridDim.x)", count);
  write_parts(rows.axes, "row", e_, w);
  w.raw(values);
  if (shares) w.line("__syncthreads();");
}

// Parts are whole packs, so that they start aligned.
void TeamLoops::write_split_row(CudaWriter& w, const std::string& values) {
  w.line("const int thread = threadIdx.x;");
  const std::string count = e_.text(plan_.column_count());
  const std::string share =
      fmt::format("const Index share = ({} / kVec + parts - 1) / parts * kVec;", count);
  if (only == plan_.passes.size() && plan_.full_stores.empty()) {
    w.line("const Index row = blockIdx.x;");
    if (!plan_.centred.empty()) w.line(share);
  } else {
    // The data that the previous launch read last may still be in the caches, so every second
    // launch runs backwards.
    const bool backwards = only % 2 == 1;
    if (backwards) w.line("const Index block = gridDim.x - 1 - blockIdx.x;");
    w.line("const Index row = {} / parts;", backwards ? "block" : "blockIdx.x");
    w.line("const Index part = {} % parts;", backwards ? "block" : "blockIdx.x");
    w.line(share);
    w.line("const Index first = share * part;");
    w.line("const Index last = first + share < {0} ? first + share : {0};", count);
  }
  write_parts(rows.axes, "row", e_, w);
  w.raw(values);
}

void TeamLoops::write_lanes_rows(CudaWriter& w, const std::string& values) {
  const std::string per_block = fmt::format("({} / {})", tuned("THREADS"), threads());
  w.line("const Index rows = {};", e_.text(plan_.row_count()));
  w.line("const int thread = threadIdx.x % {};", threads());
  const std::string lane_row = fmt::format("{} + threadIdx.x / {}", per_block, threads());
  if (turns) {
    const auto loop = w.unrolled("for (int turn = 0; turn < {}; ++turn)", tuned("TURNS"));
    w.line("const Index own_row = (static_cast<Index>(blockIdx.x) * {} + turn) * {};",
           tuned("TURNS"), lane_row);
    return write_own_row(w, values);
  }
  if (registers_) {
    w.line("const Index own_row = static_cast<Index>(blockIdx.x) * {};", lane_row);
    return write_own_row(w, values);
  }
  w.line("const Index step = static_cast<Index>(gridDim.x) * {};", per_block);
  // All lanes of a warp take part in its shuffles, so all make the same number of iterations.
  const auto loop = w.block(
      "for (Index first = static_cast<Index>(blockIdx.x) * {}; first < rows; first += step)",
      per_block);
  w.line("const Index own_row = first + threadIdx.x / {};", threads());
  write_own_row(w, values);
}

void TeamLoops::write_own_row(CudaWriter& w, const std::string& values) {
  w.line("const Index row = own_row < rows ? own_row : rows - 1;");
  write_parts(rows.axes, "row", e_, w);
  w.raw(values);
}

}  // namespace kw::generate
