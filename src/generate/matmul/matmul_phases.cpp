// The problem: a transposed convolution multiplies with zeros that its stride puts between taps.
// The choice: a block has rows of one phase, so that the taps and columns of that phase are known
// before the loop. The alternative, upsampling first, would store and read all the zeros. The cost:
// tiles of few channels are flat, so a model decides whether phases are worth it.
#include "matmul/matmul_phases.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "matmul/matmul.h"
#include "matmul/matmul_lookup.h"

namespace kw::generate {

namespace {

bool mentions_any(const Dim& index, const std::vector<Axis>& axes) {
  return std::ranges::any_of(axes, [&](const Axis& axis) { return mentions(index, axis.name); });
}

using PhaseNumbers = std::map<std::string, int64_t>;

/// The value at these phase numbers; other names count as 0.
int64_t value_at(const Dim& index, const PhaseNumbers& numbers) {
  int64_t sum = 0;
  for (const auto& [factors, number] : index.terms()) {
    int64_t term = number;
    for (const std::string& factor : factors) {
      const auto found = numbers.find(factor);
      term *= found == numbers.end() ? 0 : found->second;
    }
    sum += term;
  }
  return sum;
}

/// The number of indices of the axis in this phase, at the first benchmark shape.
int64_t left_of(const PhaseRange& range, const PhaseNumbers& numbers) {
  const int64_t rest = value_at(range.rest, numbers), by = range.divisor();
  const int64_t low =
      range.step > 0 ? range.front.value() - rest + by - 1 : rest - range.end.value() + by;
  const int64_t high =
      range.step > 0 ? range.end.value() - rest + by - 1 : rest - range.front.value() + by;
  const int64_t past = std::min(range.axis.extent.value(), std::max<int64_t>(0, high) / by);
  return std::max<int64_t>(0, past - std::max<int64_t>(0, low) / by);
}

/// The number of indices of a run in this phase.
int64_t left_of_all(const std::vector<PhaseRange>& ranges, const PhaseNumbers& numbers,
                    int64_t whole) {
  for (const PhaseRange& range : ranges) {
    const int64_t extent = std::max<int64_t>(1, range.axis.extent.value());
    whole = whole / extent * left_of(range, numbers);
  }
  return whole;
}

}  // namespace

std::optional<PhaseRange> PhaseRange::of(const Bound& bound, const std::vector<Axis>& axes,
                                         const Axis& channel) {
  for (const Axis& axis : axes) {
    const auto step = coefficient(bound.index, axis.name);
    if (!step || !step->is_constant() || step->value() == 0) continue;
    const Dim rest = bound.index - *step * variable(axis.name);
    if (mentions_any(rest, axes) || mentions(rest, channel.name)) return std::nullopt;
    return PhaseRange{axis, rest, step->value(), bound.front, bound.end};
  }
  return std::nullopt;
}

Dim PhaseRange::first() const {
  return step > 0 ? front - rest + Dim(step - 1) : rest - end - Dim(step);
}

Dim PhaseRange::past() const {
  return step > 0 ? end - rest + Dim(step - 1) : rest - front - Dim(step);
}

Dim Phases::count() const { return count_of(axes); }

void Phases::write(Emitter& e, CudaWriter& w) const {
  std::vector<std::string> tests;
  for (const Bound& bound : alive) {
    tests.push_back(fmt::format("{0} >= {1} && {0} < {2}", e.text(bound.index), e.text(bound.front),
                                e.text(bound.end)));
  }
  const auto write_range = [&](const PhaseRange& range, const char* least) {
    const std::string from = range.own("from"), past = range.own("past");
    w.line("const Index {} = max(static_cast<Index>(0), {}) / {};", from, e.text(range.first()),
           range.divisor());
    w.line("const Index {} = min(static_cast<Index>({}), max(static_cast<Index>(0), {}) / {});",
           past, e.text(range.axis.extent), e.text(range.past()), range.divisor());
    w.line("const Index {0} = {1} < {2} ? {2} - {1} : {3};", range.own("many"), from, past, least);
  };
  for (const PhaseRange& range : k) {
    write_range(range, "1");
    tests.push_back(fmt::format("{} < {}", range.own("from"), range.own("past")));
  }
  for (const PhaseRange& range : columns) write_range(range, "0");
  w.line("const bool alive = {};", tests.empty() ? "true" : join(tests, " && "));
}

ProductExtents Phases::average(const ProductExtents& whole) const {
  double columns_left = 0, work = 0;
  const int64_t phases = count().value();
  for (int64_t phase = 0; phase < phases; ++phase) {
    PhaseNumbers numbers;
    int64_t rest = phase;
    for (size_t a = axes.size(); a-- > 0;) {
      numbers[axes[a].name] = rest % axes[a].extent.value();
      rest /= axes[a].extent.value();
    }
    const bool any = std::ranges::all_of(alive, [&](const Bound& bound) {
      const int64_t at = value_at(bound.index, numbers);
      return at >= bound.front.value() && at < bound.end.value();
    });
    const auto n = static_cast<double>(left_of_all(columns, numbers, whole.n));
    columns_left += n;
    work += any ? n * static_cast<double>(left_of_all(k, numbers, whole.k)) : 0;
  }
  ProductExtents out = whole;
  out.n = std::max<int64_t>(1, static_cast<int64_t>(columns_left) / std::max<int64_t>(1, phases));
  out.k = columns_left == 0 ? 0 : static_cast<int64_t>(work / columns_left);
  return out;
}

// The functions below belong to products.

namespace {

constexpr int64_t kMostPhases = 64;

/// One axis per dim, not joined.
Joined separate_axes(const AxisRun& run) {
  const std::vector<Axis>& dims = run.domain.dims;
  if (dims.size() < 2) return joined(run.domain, {}, {run.name});
  Joined out;
  for (size_t d = 0; d < dims.size(); ++d) {
    out.axes.push_back({fmt::format("{}{}", run.name[0], dims.size() - 1 - d), dims[d].extent});
    out.rename.insert_or_assign(dims[d].name, variable(out.axes.back().name));
  }
  return out;
}

bool same_axes(const AxisRun& one, const AxisRun& other) {
  return std::equal(one.axes.axes.begin(), one.axes.axes.end(), other.axes.axes.begin(),
                    other.axes.axes.end(), [](const Axis& a, const Axis& b) {
                      return a.name == b.name && a.extent.same_text(b.extent);
                    });
}

Bound renamed_bound(const Bound& bound, const std::map<std::string, Dim>& by) {
  return {substitute(bound.index, by), bound.front, bound.end};
}

bool has_range(const std::vector<PhaseRange>& ranges, const std::string& axis) {
  return std::ranges::any_of(ranges,
                             [&](const PhaseRange& range) { return range.axis.name == axis; });
}

std::set<std::string> axes_of(const std::vector<PhaseRange>& ranges) {
  std::set<std::string> names;
  for (const PhaseRange& range : ranges) names.insert(range.axis.name);
  return names;
}

/// The number of indices of a run in the phase, as device code.
std::string count_left(const AxisRun& run, Emitter& e) {
  std::vector<std::string> factors;
  for (const Axis& axis : run.axes.axes) {
    e.note(axis.extent);
    factors.push_back(run.ranged.count(axis.name) > 0 ? axis.name + "_many"
                                                      : as_factor(axis.extent));
  }
  return join(factors, " * ");
}

}  // namespace

bool Product::take_phases() {
  if (!take_runs_apart() || !find_k_ranges()) return false;
  find_column_ranges();
  find_phases();
  if (phases_.empty() || phases_.count().value() > kMostPhases) return false;
  fix_phases();
  return true;
}

bool Product::take_runs_apart() {
  for (AxisRun* run : {&left_.view.row, &left_.view.column, &right_.view.row, &right_.view.column,
                       &result_.row, &result_.column}) {
    run->axes = separate_axes(*run);
  }
  return result_.row.axes.axes.size() > 1 && same_axes(left_.view.row, result_.row) &&
         same_axes(left_.view.column, right_.view.row) &&
         same_axes(right_.view.column, result_.column);
}

/// Finds the range of k for each row; all other elements of the left operand are zeros.
bool Product::find_k_ranges() {
  if (!is_moved(region_, left_.node)) return false;
  Emitter e(region_);
  e.ranges = ranges_;
  e.open(all_variables(), 0);
  e.value(left_.node, left_.view.index);
  if (e.used().accesses.size() != 1 || !e.used().accesses[0].bounded) return false;
  const std::vector<Axis>& axes = left_.k().axes.axes;
  const Axis& channel = left_.side().axes.axes[0];
  for (const Bound& seen : e.used().accesses[0].bounds) {
    const Bound bound = renamed_bound(seen, left_.rename());
    const auto range = PhaseRange::of(bound, axes, channel);
    if (range && !left_.k().is_whole() && !has_range(phases_.k, range->axis.name)) {
      phases_.k.push_back(*range);
    }
    if (!mentions_any(bound.index, axes) && !mentions(bound.index, channel.name)) {
      phases_.alive.push_back(bound);
    }
  }
  return true;
}

/// Finds which columns of a row are stored.
void Product::find_column_ranges() {
  std::map<std::string, Dim> by = result_.row.axes.rename;
  by.insert(result_.column.axes.rename.begin(), result_.column.axes.rename.end());
  if (result_.column.is_whole()) return;
  for (const Bound& seen : bounds_of_store(region_, id_, result_.index, ranges_)) {
    const auto range =
        PhaseRange::of(renamed_bound(seen, by), result_.column.axes.axes, result_.row.axes.axes[0]);
    if (!range || has_range(phases_.columns, range->axis.name)) continue;
    phases_.columns.push_back(*range);
    inside_.insert(seen.index.text());
  }
}

/// Finds the axes of rows that decide about a range.
void Product::find_phases() {
  const std::vector<Axis>& rows = result_.row.axes.axes;
  for (size_t a = 1; a < rows.size(); ++a) {
    bool decides = false;
    for (const auto* ranges : {&phases_.k, &phases_.columns}) {
      for (const PhaseRange& range : *ranges) {
        decides = decides || mentions(range.rest, rows[a].name);
      }
    }
    for (const Bound& bound : phases_.alive) {
      decides = decides || mentions(bound.index, rows[a].name);
    }
    if (decides && rows[a].extent.is_constant()) phases_.axes.push_back(rows[a]);
    if (decides && !rows[a].extent.is_constant()) return phases_.axes.clear();
  }
}

/// Moves phases from the rows to the front of the batches: those with most taps come first.
void Product::fix_phases() {
  std::vector<Axis>& batches = batch_.axes.axes;
  if (batch_.domain.dims.empty()) batches.clear();
  if (batches.size() == 1) {
    batches[0].name = "b0";
    for (auto& [dim, to] : batch_.axes.rename) {
      if (mentions(to, batch_.name)) to = variable("b0");
    }
  }
  batches.insert(batches.begin(), phases_.axes.begin(), phases_.axes.end());
  for (AxisRun* run : {&left_.view.row, &result_.row}) {
    for (const Axis& phase : phases_.axes) {
      std::erase_if(run->axes.axes, [&](const Axis& axis) { return axis.name == phase.name; });
      const auto is_own = [&](const Axis& dim) {
        return mentions(run->axes.rename.at(dim.name), phase.name);
      };
      for (const Axis& dim : run->domain.dims) {
        if (is_own(dim)) batch_.domain.dims.push_back(dim);
      }
      std::erase_if(run->domain.dims, is_own);
    }
    if (run->axes.axes.size() > 1) continue;
    run->axes.axes[0].name = run->name;
    run->axes.rename.at(run->domain.dims[0].name) = variable(run->name);
  }
  left_.view.column.ranged = right_.view.row.ranged = axes_of(phases_.k);
  right_.view.column.ranged = result_.column.ranged = axes_of(phases_.columns);
  for (ProductOperand* operand : {&left_, &right_}) {
    find_direction(*operand);
    operand->direct = operand->direct && operand->inner_run().ranged.empty();
  }
}

Dim Product::m() const {
  if (phases_.empty()) return node().shape[node().shape.size() - 2];
  return count_of(result_.row.axes.axes);
}

ProductExtents Product::extents() const {
  const ProductExtents whole{batches().value(), m().value(), n().value(), k().value()};
  return phases_.empty() ? whole : phases_.average(whole);
}

void Product::write_batch(Emitter& e, CudaWriter& w) const {
  const std::vector<Axis>& axes = batch_.axes.axes;
  if (!phases_.empty() && axes.size() == 1)
    w.line("const Index {} = {};", axes[0].name, batch_.name);
  batch_.write(e, w);
  if (phases_.empty()) return;
  phases_.write(e, w);
  w.line("const Index columns = {};", count_left(result_.column, e));
  w.line("if (first_n >= columns) return;");
  w.line("const Index end = alive ? {} : 0;", count_left(left_.k(), e));
}

}  // namespace kw::generate
