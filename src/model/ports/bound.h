// The constants and the formula of the error bound. Chosen by experiment (docs/error-bound.md) and
// printed with every verdict.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/json.h"
#include "ports/oracle.h"
#include "tensor/dtype.h"

namespace kw::ports {

struct BoundConstants {
  double unit = 0x1p-24;   // of fp32
  double path_factor = 4;  // B = path_factor * a + h + jump + u_out * |t| + eta
  double sum_root = 2,
         sum_plus = 8;  // error of a sum of n: (sum_root * sqrt(n) + sum_plus) * unit * sum |x|
  double sum_chain = 65536;  // terms that one thread may add in sequence, all rounding the same way
  double half_sum = 4;       // h of a sum: half_sum * sqrt(sum h^2)
  double max_z = 1, rms_z = 0.5;  // limits for a pass
  double plain_factor = 32;       // limit of rms z, relative to plain fp32 evaluations
  double plain_room = 4;          // of a stated tolerance, relative to plain evaluations
  double max_share = 0.01;        // of elements that may depend on a jump or an overflow
};
const BoundConstants& bound_constants();
Json to_json(const BoundConstants& constants);

/// The error of a sum of n terms that one thread adds in sequence, in units of |sum|, divided by
/// path_factor.
double chain_units(double n);

/// Half the distance between neighbours around 1: 2^-11 for fp16; 0 for integers.
double unit_roundoff(tensor::DType type);
/// The smallest difference that the format can represent: its smallest subnormal, or smallest
/// normal when flushing is allowed. 0 for integers.
double smallest_step(tensor::DType type, bool flush);
/// The largest magnitude that still rounds to a finite value of a float format.
double largest_finite(tensor::DType type);

/// The formula of B for one output. Values that are the same for all elements are looked up once.
struct ElementBound {
  const Truth& truth;
  double path_factor = 0, unit = 0, step = 0;

  ElementBound(const Truth& output, bool flush);
  double at(size_t index) const {
    const double size = truth.value[index] < 0 ? -truth.value[index] : truth.value[index];
    // Infinities and NaN are not rounded. Their difference to themselves is NaN.
    const double rounding = size - size == 0 ? unit * size : 0;
    // What lies on the other side of a discontinuity is rounded, too.
    const double jump = entry(truth.jump, index);
    return path_factor * entry(truth.a, index) + entry(truth.h, index) +
           jump * (1 + unit + kJumpRounding) + rounding + step;
  }

 private:
  static constexpr double kJumpRounding = 0x1p-20;
  static double entry(const tensor::Large<float>& values, size_t index) {
    return values.empty() ? 0.0 : static_cast<double>(values[index]);
  }
};

/// B of one element: the largest distance of an honest result from truth.value[index]. Infinite
/// when the declared precision does not determine the result.
double bound_at(const Truth& truth, int64_t index, bool flush);

}  // namespace kw::ports
