// The problem: ordinary inputs hide many errors, such as overflow, cancellation, ties, or a wrong
// type inside. Each family exposes one kind of error; values stay within the task's legal ranges.
// The same seed gives the same bytes for any number of threads. The alternative, recorded tensors,
// would be large, and authors of kernels could know them. The cost is time to draw: one pass per
// tensor, and one more for each change of its values. draw_plain.cpp, draw_planted.cpp,
// draw_sizes.cpp and draw_structured.cpp have the values; this file has the list, and what is
// legal.
#include "inputs/families.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "core/contains.h"
#include "core/text.h"
#include "inputs/draw.h"
#include "ops/op_groups.h"
#include "tensor/convert.h"

namespace kw::inputs {

namespace {

using tensor::DType;
using tensor::HostTensor;

constexpr double kLeastPositive = 0x1p-6;

struct FamilyRow {
  const char* name;
  Result<HostTensor> (*draw)(const TensorDraw& draw);
  bool weights;  // weights follow it; otherwise they are ordinary
  bool floats;   // it has a meaning for floats only
};
// Those that find most errors come first.
constexpr FamilyRow kFamilies[] = {
    {"normal", draw_plain, false, false},
    {"spikes", draw_plain, false, false},
    {"offset", draw_plain, false, true},
    {"uniform", draw_plain, false, false},
    {"probe", draw_plain, false, true},
    {"heavy", draw_plain, false, false},
    {"sorted", draw_plain, false, false},
    {"denormal", draw_plain, false, true},
    {"equal", draw_plain, false, false},
    {"zeros", draw_plain, false, false},
    {"special", draw_plain, false, true},
    {"ties", draw_ties, true, false},
    {"mixed_zeros", draw_mixed_zeros, true, false},
    {"constants", draw_planted, true, false},
    {"extremes", draw_extremes, true, false},
    {"magnitudes", draw_magnitudes, true, true},
    {"scaled_weights", draw_scaled, true, true},
    {"mix", draw_mix, false, false},
    {"structured", draw_structured, true, false},
    {kImmediatesFamily, draw_planted, true, false},
};

const FamilyRow& row_of(const std::string& family) {
  return *std::ranges::find_if(kFamilies, [&](const FamilyRow& row) { return family == row.name; });
}

void keep_legal(const task::Legal& legal, HostTensor* tensor) {
  if (legal.positive)
    transform(tensor, [](double v) { return std::max(std::fabs(v), kLeastPositive); });
  if (!legal.float_low && !legal.float_high) return;
  const double low = legal.float_low.value_or(-HUGE_VAL);
  const double high = legal.float_high.value_or(HUGE_VAL);
  // Spreads values between the limits; clamping would put them all at a limit.
  const bool both = std::isfinite(low) && std::isfinite(high);
  transform(tensor, [&](double v) {
    if (v >= low && v <= high) return v;
    // One limit alone is a mirror.
    if (!both && std::isfinite(v)) return v < low ? low + (low - v) : high - (v - high);
    if (!both) return std::isnan(v) ? v : std::clamp(v, low, high);
    if (!std::isfinite(v)) return std::isnan(v) ? v : std::clamp(v, low, high);
    const double share = std::fabs(v) / (1 + std::fabs(v));
    return low + (high - low) * share;
  });
}

// Elements outside the structure become 0, or the mirrored element.
void keep_structure(task::Structure structure, HostTensor* tensor) {
  const size_t rank = tensor->shape.size();
  if (structure == task::Structure::General || rank < 2) return;
  const int64_t rows = tensor->shape[rank - 2], columns = tensor->shape[rank - 1];
  const int64_t count = tensor::value_count(*tensor);
  for (int64_t at = 0; at < count; ++at) {
    const int64_t row = at / columns % rows, column = at % columns;
    const bool kept = structure == task::Structure::Upper ? column >= row : column <= row;
    if (kept) continue;
    const int64_t mirrored = at - row * columns - column + column * columns + row;
    const bool symmetric =
        structure == task::Structure::Symmetric && column < rows && row < columns;
    const double value = symmetric ? tensor::get_element(*tensor, mirrored) : 0;
    tensor::set_element(*tensor, at, value);
  }
}

/// Ascends along the last dim.
void keep_sorted(HostTensor* tensor) {
  if (!tensor::is_float(tensor->dtype)) return;
  const int64_t row = row_length(*tensor);
  std::vector<double> values(static_cast<size_t>(row));
  for (int64_t at = 0; at + row <= tensor::value_count(*tensor); at += row) {
    tensor::load_values(*tensor, at, values);
    std::ranges::stable_sort(values);
    tensor::store_floats(*tensor, at, values);
  }
}

Result<HostTensor> draw_legal(TensorDraw draw) {
  const int64_t count = KW_TRY(tensor::element_count(draw.shape));
  if (count == 0) return tensor::make_tensor(draw.spec.dtype, draw.shape);
  const bool floats = tensor::is_float(draw.spec.dtype);
  const bool weight = draw.spec.role == task::Role::Weight;
  if (floats && weight && !row_of(draw.family).weights) draw.family = "normal";
  HostTensor tensor = KW_TRY(draw_values(draw));
  // Ordinary weights saturate wide networks, small ones hide errors of size: both are drawn.
  const bool sized =
      draw.family == "magnitudes" || draw.family == "scaled_weights" || draw.family == "structured";
  if (weight && !sized && draw.cell.seed % 2 == 1) scale_by_fan_in(&tensor);
  if (floats) {
    keep_legal(draw.spec.legal, &tensor);
    keep_structure(draw.spec.legal.structure, &tensor);
  }
  if (draw.constants.searched) keep_sorted(&tensor);
  return tensor;
}

void note_integers(const graph::Graph& graph, CellDraw* cell) {
  for (const graph::Node& node : graph.nodes) {
    if (node.inputs.empty()) continue;
    if (tensor::is_float(graph[node.inputs[0]].dtype)) {
      // A float beyond the integer type has no defined conversion.
      cell->narrows_integers =
          cell->narrows_integers || (node.op == graph::Op::Cast && !tensor::is_float(node.dtype) &&
                                     node.dtype != DType::Bool);
      continue;
    }
    const graph::OpKind kind = graph::op_info(node.op).kind;
    const bool selects = kind == graph::OpKind::Selection || kind == graph::OpKind::Scan ||
                         node.op == graph::Op::ArgMax || node.op == graph::Op::ArgMin;
    cell->ranks_integers = cell->ranks_integers || selects;
    cell->divides_integers = cell->divides_integers || ops::is_division(node.op);
    cell->narrows_integers =
        cell->narrows_integers || (node.op == graph::Op::Cast && tensor::is_float(node.dtype) &&
                                   tensor::dtype_size(node.dtype) < 4 && node.dtype != DType::Bf16);
  }
}

/// Whether a constant is planted only where the formula stays within its type with it.
bool has_large(const Immediates& immediates) {
  return std::ranges::any_of(immediates.numbers,
                             [](double value) { return std::fabs(value) > 0x1p60; });
}

/// In three of four cells of a formula with products, one input alone has a wide window.
void choose_single(const task::Task& task, const graph::Graph& graph, CellDraw* cell) {
  const auto windows = single_windows(task, graph);
  std::vector<size_t> wide;
  for (size_t i = 0; i < windows.size(); ++i) {
    if (windows[i]) wide.push_back(i);
  }
  const uint64_t turn = cell->window_turn;
  if (wide.empty()) return;
  if (turn % 4 == 0) {
    cell->window_turn = turn / 4;
    return;
  }
  cell->single_turn = turn / 4 * 3 + turn % 4 - 1;
  cell->single = wide[cell->single_turn / 2 % wide.size()];
  cell->single_window = *windows[*cell->single];
}

}  // namespace

uint64_t derive_seed(uint64_t seed, uint64_t purpose) {
  uint64_t x = seed + (purpose + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return (x ^ (x >> 31)) & 0x7fffffffffffffff;  // seeds are written and parsed as int64
}

std::vector<int64_t> shuffled(int64_t count, uint64_t seed) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (size_t i = order.size(); i > 1; --i) {
    seed = derive_seed(seed, i);
    std::swap(order[i - 1], order[seed % i]);
  }
  return order;
}

const std::vector<std::string>& all_families() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const FamilyRow& row : kFamilies) names.emplace_back(row.name);
    return names;
  }();
  return kNames;
}

std::vector<std::string> families_for(const task::Task& task) {
  const auto any = [&](auto&& holds) { return std::ranges::any_of(task.inputs, holds); };
  const bool floats = any([](const task::TensorSpec& spec) {
    return tensor::is_float(spec.dtype) && spec.role == task::Role::Input;
  });
  const bool matrices = any([](const task::TensorSpec& spec) {
    return tensor::is_float(spec.dtype) && spec.role == task::Role::Weight && spec.shape.size() > 1;
  });
  const bool numbers = any([](const task::TensorSpec& spec) { return spec.dtype != DType::Bool; });
  std::vector<std::string> names;
  for (const FamilyRow& row : kFamilies) {
    const std::string name = row.name;
    if (name == kImmediatesFamily) continue;  // the gate draws it for each candidate
    if (name == "special" && task.precision.nan != task::NanPolicy::Propagate) continue;
    if (name == "denormal" && task.precision.flush) continue;
    if (name == "extremes" && !any(is_free_integer)) continue;
    if (name == "scaled_weights" && !matrices) continue;
    const bool planted =
        name == "ties" || name == "mixed_zeros" || name == "constants" || name == "mix";
    if (planted && !numbers) continue;
    if (row.floats && !floats) continue;
    names.push_back(name);
  }
  return names;
}

Status check_legal(const task::Task& task, const graph::Graph& graph, const task::Dims& dims) {
  for (const graph::NamedNode& input : graph.inputs) {
    const task::TensorSpec* spec = task.find_input(input.name);
    const bool empty = std::ranges::any_of(graph[input.node].shape,
                                           [](const graph::Dim& dim) { return dim.value() == 0; });
    if (spec == nullptr || empty || tensor::is_float(spec->dtype) || spec->legal.permutation)
      continue;
    KW_TRY(integer_range(*spec, dims));
  }
  return Done{};
}

Result<HostTensor> draw_values(const TensorDraw& draw) { return row_of(draw.family).draw(draw); }

Result<std::vector<HostTensor>> draw_inputs(const task::Task& task, const graph::Graph& graph,
                                            const task::Dims& dims, const std::string& family,
                                            uint64_t seed, const Immediates* immediates) {
  if (!contains(all_families(), family)) {
    return input_error("there is no input family '{}'{}; families: {}", family,
                       did_you_mean(family, all_families()), join(all_families(), ", "));
  }
  CellDraw cell{task, dims, seed, constants_of(graph)};
  cell.window_turn = seed % kTurns;
  const bool large = immediates != nullptr && has_large(*immediates);
  if (family == "magnitudes" || family == "mix" || large)
    cell.window = magnitude_window(task, graph);
  if (family == "magnitudes") choose_single(task, graph, &cell);
  if (immediates != nullptr) cell.immediates = *immediates;
  note_integers(graph, &cell);
  std::vector<HostTensor> tensors;
  for (const graph::NamedNode& input : graph.inputs) {
    const graph::Node& node = graph[input.node];
    task::TensorSpec plain;
    plain.name = input.name;
    plain.dtype = node.dtype;
    const task::TensorSpec* spec = task.find_input(input.name);
    tensors.push_back(KW_TRY(draw_legal({.cell = cell,
                                         .spec = spec != nullptr ? *spec : plain,
                                         .constants = cell.constants.of_input[tensors.size()],
                                         .shape = graph::values_of(node.shape),
                                         .family = family,
                                         .seed = derive_seed(seed, tensors.size()),
                                         .earlier = tensors})));
  }
  return tensors;
}

}  // namespace kw::inputs
