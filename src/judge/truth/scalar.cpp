// The problem: every pointwise op needs one definition that all loops agree with. These functions
// take the formulas from the op table, one element at a time. The slow paths (jumps, evaluation at
// ends) call them; the unary chunk loops use the same table with vectors. The alternative, separate
// formulas per loop, could disagree in rare cases such as NaN. The cost is a switch per element.
#include "truth/scalar.h"

#include <cmath>

#include "core/check.h"
#include "numeric/small_float.h"
#include "ops/special.h"
#include "ports/bound.h"
#include "truth/errors.h"
#include "truth/mode.h"
#include "truth/values.h"

namespace kw::truth {

double apply(Op op, double x) {
  using namespace ops;  // VALUE calls it
  switch (op) {
#define KW_POINTWISE(op, name, inputs, ...)
#define KW_FUNCTION(op, name, ...) \
  case Op::op:                     \
    __VA_ARGS__ break;
#define KW_UNARY(op, name, ...) KW_FUNCTION(op, name, __VA_ARGS__)
#define VALUE(...) return __VA_ARGS__;
#include "ops/table.def"
    default:
      break;
  }
  KW_CHECK(false, "a float function of one argument");
}

double apply(Op op, double x, double z) {
  using namespace ops;  // VALUE calls it
  switch (op) {
#define KW_BINARY(op, name, ...) \
  case Op::op:                   \
    __VA_ARGS__ break;
#define VALUE(...) return __VA_ARGS__;
#include "ops/table.def"
    default:
      break;
  }
  KW_CHECK(false, "a float function of two arguments");
}

namespace {

template <class T>
bool compare_as(Op op, T x, T z) {
  switch (op) {
#define KW_COMPARE(op, name, sign) \
  case Op::op:                     \
    return x sign z;
#include "ops/table.def"
    default:
      KW_CHECK(false, "a comparison");
  }
}

}  // namespace

bool compare(Op op, double x, double z) { return compare_as(op, x, z); }

bool compare(Op op, int64_t x, int64_t z, DType type) {
  if (type == DType::Uint64)
    return compare_as(op, static_cast<uint64_t>(x), static_cast<uint64_t>(z));
  return compare_as(op, x, z);
}

int64_t to_integer(double x, DType type) {
  if (type == DType::Bool) return x != 0;  // NaN is true
  if (type == DType::Uint64 && x >= 0x1p63)
    return x >= 0x1p64 ? -1 : static_cast<int64_t>(static_cast<uint64_t>(x));
  return wrapped(type, to_whole(x));
}

double to_double(int64_t x, DType type) {
  if (type == DType::Uint64) return static_cast<double>(static_cast<uint64_t>(x));
  return static_cast<double>(x);
}

bool sums_in_float(Mode mode, DType type) { return mode == Mode::Declared && type != DType::Fp64; }

namespace {

// To the precision of the format, but with any exponent.
double rounded_beyond(DType type, double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  const double step = std::ldexp(ports::unit_roundoff(type), exponent);
  return std::nearbyint(x / step) * step;
}

}  // namespace

double snapped(DType type, double x) {
  const bool beyond = type != DType::E8m0 && std::fabs(x) > ports::largest_finite(type);
  return beyond && std::isfinite(x) ? rounded_beyond(type, x) : rounded(type, x);
}

double stored_value(Mode mode, DType type, double value) {
  const bool narrow = mode == Mode::Declared && type != DType::Fp64;
  const double computed = narrow ? static_cast<double>(static_cast<float>(value)) : value;
  if (mode == Mode::Truth || !is_half(type)) return computed;
  if (mode == Mode::HalfOnly && std::fabs(value) > ports::largest_finite(type) &&
      std::isfinite(value))
    return rounded_beyond(type, value);
  return rounded(type, computed);
}

double rounded(DType type, double x) {
  constexpr auto kNearest = numeric::Round::Nearest;
  constexpr auto kOverflow = numeric::Overflow::Infinity;
  switch (type) {
    case DType::Fp64:
      return x;
    case DType::Fp32:
      return static_cast<double>(static_cast<float>(x));
    case DType::Fp16:
      return numeric::fp16_to_float(numeric::double_to_fp16(x));
    case DType::Bf16:
      return numeric::bf16_to_float(numeric::double_to_bf16(x));
    case DType::Fp8e4m3:
      return numeric::widen<numeric::E4m3>(numeric::narrow<numeric::E4m3, kNearest, kOverflow>(x));
    case DType::Fp8e5m2:
      return numeric::widen<numeric::E5m2>(numeric::narrow<numeric::E5m2, kNearest, kOverflow>(x));
    case DType::E8m0:
      return numeric::e8m0_to_float(numeric::float_to_e8m0(static_cast<float>(x)));
    default:
      KW_CHECK(false, "a float format");
  }
}

}  // namespace kw::truth
