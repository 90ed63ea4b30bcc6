// The constants and the formula of the error bound, in one place. Chosen by experiment
// (docs/error-bound.md) and printed with every verdict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/json.h"
#include "ports/oracle.h"
#include "tensor/dtype.h"

namespace kw::ports {

struct BoundConstants {
  double unit = 0x1p-24;   // of fp32
  double path_factor = 4;  // B = path_factor * a + h + jump + u_out * |t| + eta
  double sum_root = 2,
         sum_plus = 8;      // a sum of n rounds by (sum_root * sqrt(n) + sum_plus) * unit * sum |x|
  double sum_chain = 4096;  // terms that one thread may add in turn, each rounding the same way
  double half_sum = 4;      // h of a sum: half_sum * sqrt(sum h^2)
  double max_z = 1, rms_z = 0.5;  // pass limits
  double max_share = 0.01;        // of elements that may rest on a discontinuity or an overflow
};
const BoundConstants& bound_constants();
Json to_json(const BoundConstants& constants);

/// What a sum of n terms may lose in units of |sum| when one thread adds them in turn, already
/// divided by path_factor.
double chain_units(double n);

/// Half the distance between neighbours around 1: 2^-11 for fp16; 0 for integers.
double unit_roundoff(tensor::DType type);
/// The smallest difference the format can show: its smallest subnormal, or smallest normal where
/// flushing is allowed. 0 for integers.
double smallest_step(tensor::DType type, bool flush);
/// The largest magnitude that still rounds to a finite value of a float format.
double largest_finite(tensor::DType type);

/// The formula of B for one output, with everything that is the same for all its elements looked up
/// once.
struct ElementBound {
  const Truth& truth;
  double path_factor = 0, unit = 0, step = 0;

  ElementBound(const Truth& output, bool flush);
  double at(size_t index) const {
    const double size = truth.value[index] < 0 ? -truth.value[index] : truth.value[index];
    // Infinities and NaN have no rounding of their own: their difference to themselves is NaN.
    const double rounding = size - size == 0 ? unit * size : 0;
    return path_factor * entry(truth.a, index) + entry(truth.h, index) + entry(truth.jump, index) +
           rounding + step;
  }

 private:
  static double entry(const tensor::Large<float>& values, size_t index) {
    return values.empty() ? 0.0 : static_cast<double>(values[index]);
  }
};

/// B of one element: how far from truth.value[index] an honest result may be. Infinite where the
/// declared precision says nothing about the result.
double bound_at(const Truth& truth, int64_t index, bool flush);

}  // namespace kw::ports
