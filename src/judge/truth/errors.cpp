#include "truth/errors.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ports/bound.h"
#include "truth/interpreter.h"

namespace kw::truth {

using graph::Op;
using tensor::DType;

// An ulp is at most two units. Full-precision CUDA functions and the hardware's approximate ones
// (ex2, lg2, sin, cos, rcp, rsqrt with a scaled argument) must both fit below path_factor times
// these.
const OpErrors& op_errors(Op op) {
  static constexpr OpErrors kExact{}, kBasic{1, 0, 0, 0}, kFunction{4, 0, 0, 0};
  static constexpr OpErrors kScaled{4, 1, 0, 0};   // exp(x) = 2^(x log2 e)
  static constexpr OpErrors kShifted{4, 0, 2, 0};  // lg2.approx is absolute around 1
  static constexpr OpErrors kTurning{4, 1, 2, 0};
  static constexpr OpErrors kThree{6, 0, 0, 0}, kFour{8, 0, 0, 0};
  static constexpr OpErrors kGrowing{6, 1, 0, 0};
  static constexpr OpErrors kSigmoid{6, 1, 0, 0x1p-128};  // exp(-x) overflows below -88.7
  static constexpr OpErrors kLgamma{12, 1, 8, 0}, kDigamma{16, 1, 16, 0};
  switch (op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Div:
    case Op::Sqrt:
    case Op::Reciprocal:
    case Op::Remainder:
      return kBasic;
    case Op::Rsqrt:
    case Op::Expm1:
    case Op::Log1p:
    case Op::Asin:
    case Op::Acos:
    case Op::Atan:
    case Op::Tanh:
    case Op::Erf:
      return kFunction;
    case Op::Exp:
    case Op::Exp2:
      return kScaled;
    case Op::Log:
    case Op::Log2:
    case Op::Log10:
      return kShifted;
    case Op::Sin:
    case Op::Cos:
      return kTurning;
    case Op::Atan2:
    case Op::Asinh:
    case Op::Atanh:
    case Op::Erfinv:
    case Op::Hypot:
      return kThree;
    case Op::Acosh:
    case Op::Erfc:
    case Op::Pow:
      return kFour;
    case Op::Sinh:
    case Op::Cosh:
    case Op::Tan:
      return kGrowing;
    case Op::Sigmoid:
      return kSigmoid;
    case Op::Lgamma:
      return kLgamma;
    case Op::Digamma:
      return kDigamma;
    default:
      return kExact;
  }
}

double op_error(Op op) { return op_errors(op).relative; }

bool is_half(DType type) {
  return tensor::is_float(type) && type != DType::Fp64 && type != DType::Fp32;
}

Rounding rounding_of(DType type, bool flush) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (type == DType::Fp64) return {0x1p-53, 0, ports::largest_finite(type), 0, 0, infinity, true};
  Rounding r;
  r.unit = ports::bound_constants().unit;
  r.tiny = flush ? 0x1p-126 : 0x1p-150;
  r.limit = ports::largest_finite(DType::Fp32);
  r.half_limit = infinity;
  if (is_half(type)) {
    r.half_unit = ports::unit_roundoff(type);
    // A whole step, though honest roundings are off by half of one: among subnormal numbers errors
    // fill that half evenly, or are all ties, and their rms would be 0.58 or 0.71 of it.
    r.half_tiny = ports::smallest_step(type, false);
    r.half_limit = ports::largest_finite(type);
    r.half_infinity = type != DType::Fp8e4m3 && type != DType::E8m0;
  }
  return r;
}

SumErrors sum_errors(const Rounding& r, int64_t count, double t, double size, double a,
                     double squares) {
  const ports::BoundConstants& c = ports::bound_constants();
  SumErrors e{a, std::sqrt(squares)};
  const bool finite = std::isfinite(t);
  if (count > 1) {
    e.h *= c.half_sum;
    const double n = static_cast<double>(count);
    if (finite) {
      const double tree = (c.sum_root * std::sqrt(n) + c.sum_plus) * size;
      e.a += r.unit * std::max(tree, ports::chain_units(n) * std::fabs(t));
      e.h += r.half_unit * std::fabs(t) + (t != 0 ? r.half_tiny : 0);
    }
  }
  if (size > r.limit) e.a = std::numeric_limits<double>::infinity();
  if (finite && std::fabs(t) > r.half_limit) e.h = std::numeric_limits<double>::infinity();
  return e;
}

}  // namespace kw::truth
