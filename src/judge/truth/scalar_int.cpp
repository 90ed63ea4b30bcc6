#include <cstdlib>

#include "core/check.h"
#include "truth/scalar.h"
#include "truth/values.h"

namespace kw::truth {

namespace {

// Two's complement without undefined overflow.
int64_t plus(int64_t x, int64_t z) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(z));
}
int64_t minus(int64_t x, int64_t z) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) - static_cast<uint64_t>(z));
}
int64_t times(int64_t x, int64_t z) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(z));
}

// Integer powers wrap; negative exponents give 0, 1 or -1.
int64_t power(int64_t x, int64_t z, DType type) {
  if (z < 0 && type != DType::Uint64) {
    if (x == 1) return 1;
    if (x == -1) return z % 2 == 0 ? 1 : -1;
    return 0;
  }
  int64_t result = 1;
  for (auto rest = static_cast<uint64_t>(z); rest > 0; rest /= 2, x = times(x, x)) {
    if (rest % 2 != 0) result = times(result, x);
  }
  return result;
}

int64_t unsigned_division(Op op, uint64_t x, uint64_t z) {
  return static_cast<int64_t>(op == Op::FloorDiv || op == Op::Div ? x / z : x % z);
}

int64_t division(Op op, int64_t x, int64_t z, DType type) {
  const bool divides = op == Op::FloorDiv || op == Op::Div;
  if (z == 0) return divides ? -1 : x;
  if (type == DType::Uint64)
    return unsigned_division(op, static_cast<uint64_t>(x), static_cast<uint64_t>(z));
  switch (op) {
    case Op::FloorDiv:
      return floor_quotient(x, z);
    case Op::Remainder:
      return floor_rest(x, z);
    case Op::Fmod:
      return z == -1 ? 0 : x % z;
    default:
      return z == -1 ? minus(0, x) : x / z;
  }
}

int bits_of(DType type) { return tensor::dtype_size(type) * 8; }

int64_t shift_left(int64_t x, int64_t z, DType type) {
  if (z < 0 || z >= bits_of(type)) return 0;
  return static_cast<int64_t>(static_cast<uint64_t>(x) << z);
}

int64_t shift_right(int64_t x, int64_t z, DType type) {
  const bool counted = z >= 0 && z < bits_of(type);
  if (type == DType::Uint64)
    return counted ? static_cast<int64_t>(static_cast<uint64_t>(x) >> z) : 0;
  return x >> (counted ? z : 63);
}

}  // namespace

int64_t apply(Op op, int64_t x, DType type) {
  switch (op) {
    case Op::Neg:
      return wrapped(type, minus(0, x));
    case Op::Abs:
      return type == DType::Uint64 || x >= 0 ? x : wrapped(type, minus(0, x));
    case Op::Sign:
      if (type == DType::Uint64) return x != 0;
      return (x > 0) - (x < 0);
    case Op::Not:
      return type == DType::Bool ? x == 0 : wrapped(type, ~x);
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::Round:
      return x;
    case Op::IsNan:
    case Op::IsInf:
      return 0;
    default:
      KW_CHECK(false, "an integer function of one argument");
  }
}

int64_t apply(Op op, int64_t x, int64_t z, DType type) {
  switch (op) {
    case Op::Add:
      return wrapped(type, plus(x, z));
    case Op::Sub:
      return wrapped(type, minus(x, z));
    case Op::Mul:
      return wrapped(type, times(x, z));
    case Op::Pow:
      return wrapped(type, power(x, z, type));
    case Op::Div:
    case Op::FloorDiv:
    case Op::Remainder:
    case Op::Fmod:
      return wrapped(type, division(op, x, z, type));
    case Op::Maximum:
    case Op::Fmax:
      return compare(Op::Gt, x, z, type) ? x : z;
    case Op::Minimum:
    case Op::Fmin:
      return compare(Op::Lt, x, z, type) ? x : z;
    case Op::And:
      return x & z;
    case Op::Or:
      return x | z;
    case Op::Xor:
      return x ^ z;
    case Op::ShiftLeft:
      return wrapped(type, shift_left(x, z, type));
    case Op::ShiftRight:
      return wrapped(type, shift_right(x, z, type));
    case Op::Copysign:
      return (x < 0) == (z < 0) ? x : wrapped(type, minus(0, x));
    default:
      KW_CHECK(false, "an integer function of two arguments");
  }
}

}  // namespace kw::truth
