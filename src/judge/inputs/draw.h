// Draws one tensor of a family. Internal to families.cpp; every element is a pure function of the
// seed and its position.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "inputs/families.h"
#include "inputs/graph_constants.h"
#include "inputs/immediates.h"
#include "inputs/magnitude_window.h"
#include "task/task.h"
#include "tensor/host_tensor.h"
#include "tensor/inputs.h"

namespace kw::inputs {

/// What all tensors of one cell have in common.
struct CellDraw {
  const task::Task& task;
  const task::Dims& dims;
  uint64_t seed = 0;
  GraphConstants constants;
  MagnitudeWindow window = {};
  std::optional<size_t> single = {};  // of `magnitudes`: the input that has single_window alone
  MagnitudeWindow single_window = {};
  uint64_t single_turn = 0;       // among the cells that have one
  uint64_t window_turn = 0;       // among the others
  bool divides_integers = false;  // the smallest integer has no quotient by -1
  bool ranks_integers = false;    // the judge compares scores as doubles
  bool narrows_integers = false;  // some become fp16, which ends at 65504
  Immediates immediates = {};     // of the candidate
};

/// One tensor. References must outlive it.
struct TensorDraw {
  const CellDraw& cell;
  const task::TensorSpec& spec;
  const InputConstants& constants;
  std::vector<int64_t> shape;
  std::string family;
  uint64_t seed = 0;
  std::span<const tensor::HostTensor> earlier = {};  // the inputs before this one

  /// Of the cell among those of its family; inputs of one cell have consecutive turns.
  uint64_t turn() const { return cell.seed % kTurns + earlier.size(); }
  /// The same tensor with another family and seed.
  TensorDraw with(const std::string& other, uint64_t other_seed) const;
};

/// Draws any family, without regard to legal ranges of floats.
Result<tensor::HostTensor> draw_values(const TensorDraw& draw);

/// The families that tensor::Family has, and "probe".
Result<tensor::HostTensor> draw_plain(const TensorDraw& draw);
/// "ties": few distinct values; tensors of one cell share them.
Result<tensor::HostTensor> draw_ties(const TensorDraw& draw);
/// "mixed_zeros": ordinary values, one of eight is +0 or -0.
Result<tensor::HostTensor> draw_mixed_zeros(const TensorDraw& draw);
/// "constants" and "immediates": ordinary values with thresholds planted.
Result<tensor::HostTensor> draw_planted(const TensorDraw& draw);
/// "extremes": integers over their whole type.
Result<tensor::HostTensor> draw_extremes(const TensorDraw& draw);
/// "magnitudes": log-uniform, over the window of the cell.
Result<tensor::HostTensor> draw_magnitudes(const TensorDraw& draw);
/// "scaled_weights": weights divided by the root of their fan-in.
Result<tensor::HostTensor> draw_scaled(const TensorDraw& draw);
/// "structured": rows that descend, alternate, are padded with zeros, …; the identity; arange.
Result<tensor::HostTensor> draw_structured(const TensorDraw& draw);
/// "mix": another family for every 256 elements.
Result<tensor::HostTensor> draw_mix(const TensorDraw& draw);

/// The integers that an input may hold; an input Error if there are none at these dims.
Result<tensor::IntegerRange> integer_range(const task::TensorSpec& spec, const task::Dims& dims);
/// Whether the task leaves an integer input its whole type.
bool is_free_integer(const task::TensorSpec& spec);

/// Changes every value of a float tensor.
void transform(tensor::HostTensor* tensor, const std::function<double(double)>& change);
/// Calls `visit` for every element with its own random draw, on several threads.
void for_each_draw(const tensor::HostTensor& tensor, uint64_t seed,
                   const std::function<void(int64_t at, uint64_t draw)>& visit);
/// Divides a matrix of weights by the root of its fan-in; leaves vectors.
void scale_by_fan_in(tensor::HostTensor* tensor);
/// Writes one float, rounded to the tensor's type.
void put(tensor::HostTensor* tensor, int64_t at, double value);
/// Multiples of the golden ratio, without their whole parts: any consecutive ones lie evenly in
/// [0, 1).
constexpr double evenly(uint64_t number) {
  return static_cast<double>(number * 0x9e3779b97f4a7c15 >> 11) * 0x1p-53;
}
/// The extent of the last dim; 1 for rank 0.
int64_t row_length(const tensor::HostTensor& tensor);

}  // namespace kw::inputs
