#include "truth/errors.h"

#include "ports/bound.h"

namespace kw::truth {

using graph::Op;
using tensor::DType;

// One ulp is at most two units. Full-precision CUDA functions and the hardware's approximate ones
// (ex2, lg2, sin, cos, rcp, rsqrt with a scaled argument) must both stay below path_factor times
// these.
const OpErrors& op_errors(Op op) {
  static constexpr OpErrors kExact{};
  switch (op) {
#define KW_POINTWISE(op, name, inputs, ...)        \
  case Op::op: {                                   \
    static constexpr OpErrors errors{__VA_ARGS__}; \
    return errors;                                 \
  }
#define ERRORS(...) __VA_ARGS__
#include "ops/table.def"
    default:
      return kExact;
  }
}

bool is_half(DType type) {
  return tensor::is_float(type) && type != DType::Fp64 && type != DType::Fp32;
}

Rounding rounding_of(DType type, bool flush) {
  if (type == DType::Fp64) return {0x1p-53, 0, ports::largest_finite(type), 0, 0, infinity(), true};
  Rounding r;
  r.unit = ports::bound_constants().unit;
  r.tiny = flush ? 0x1p-126 : 0x1p-150;
  r.limit = ports::largest_finite(DType::Fp32);
  r.half_limit = infinity();
  if (is_half(type)) {
    r.half_unit = ports::unit_roundoff(type);
    // A whole step, although an honest rounding is off by at most half a step. Among subnormals the
    // errors are uniform or all ties; their rms would be 0.58 or 0.71 of half a step.
    r.half_tiny = ports::smallest_step(type, false);
    r.half_limit = ports::largest_finite(type);
    r.half_infinity = type != DType::Fp8e4m3 && type != DType::E8m0;
  }
  return r;
}

Rounding without_limits(Rounding rounding) {
  rounding.limit = rounding.half_limit = infinity();
  return rounding;
}

TrackedValue sum_errors(const Rounding& rounding, double count, const Summed& sum) {
  return sum_result(sum, count, ports::chain_units(count), rounding);
}

double joined_units(double terms) {
  if (terms <= 1) return 0;
  return larger(tree_units(sqrt(terms), 1), ports::chain_units(terms));
}

}  // namespace kw::truth
