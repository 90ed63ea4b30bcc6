// Pointwise ops of integers and bool, in 128 bits: no operation overflows there, so the low bits of
// its result are those that the type keeps.
#include <map>

#include "second_opinion_steps.h"

namespace kw::mutation {

namespace {

__extension__ typedef __int128 Huge;

Huge huge_of(DType type, int64_t bits) {
  if (type == DType::Uint64) return static_cast<uint64_t>(bits);
  return bits;
}

/// Like Python's %: the sign of the divisor.
Huge rest_of(Huge x, Huge z) {
  const Huge rest = x % z;
  return rest != 0 && (rest < 0) != (z < 0) ? rest + z : rest;
}

uint64_t low_product(Huge x, Huge z) { return static_cast<uint64_t>(x) * static_cast<uint64_t>(z); }

/// Modulo 2^64. Negative exponents give 1 / x^-z, towards zero (0 for x = 0, as in PyTorch).
Huge power_of(Huge x, Huge z) {
  if (z < 0) return x == 1 ? 1 : x == -1 ? (z % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1;
  for (Huge factor = x; z > 0; z /= 2) {
    if (z % 2 == 1) result = low_product(result, factor);
    factor = low_product(factor, factor);
  }
  return result;
}

/// What an op on integers may look at.
struct Operands {
  Huge x, z;
  int width;  // bits of the type
  bool is_bool;
};

using IntegerRule = Huge (*)(const Operands&);

const std::map<Op, IntegerRule>& integer_rules() {
  static const std::map<Op, IntegerRule> kTable = {
      {Op::Neg, [](const Operands& o) { return -o.x; }},
      {Op::Abs, [](const Operands& o) { return o.x < 0 ? -o.x : o.x; }},
      {Op::Sign, [](const Operands& o) { return Huge(o.x > 0) - Huge(o.x < 0); }},
      {Op::Not, [](const Operands& o) { return o.is_bool ? 1 - o.x : ~o.x; }},
      {Op::Add, [](const Operands& o) { return o.x + o.z; }},
      {Op::Sub, [](const Operands& o) { return o.x - o.z; }},
      {Op::Mul, [](const Operands& o) { return Huge(low_product(o.x, o.z)); }},
      {Op::Pow, [](const Operands& o) { return power_of(o.x, o.z); }},
      {Op::Fmod, [](const Operands& o) { return o.x % o.z; }},
      {Op::Remainder, [](const Operands& o) { return rest_of(o.x, o.z); }},
      {Op::FloorDiv, [](const Operands& o) { return (o.x - rest_of(o.x, o.z)) / o.z; }},
      {Op::Maximum, [](const Operands& o) { return o.x > o.z ? o.x : o.z; }},
      {Op::Minimum, [](const Operands& o) { return o.x < o.z ? o.x : o.z; }},
      {Op::Fmax, [](const Operands& o) { return o.x > o.z ? o.x : o.z; }},
      {Op::Fmin, [](const Operands& o) { return o.x < o.z ? o.x : o.z; }},
      {Op::And, [](const Operands& o) { return o.x & o.z; }},
      {Op::Or, [](const Operands& o) { return o.x | o.z; }},
      {Op::Xor, [](const Operands& o) { return o.x ^ o.z; }},
      {Op::ShiftLeft,
       [](const Operands& o) {
         return o.z < 0 || o.z >= o.width ? Huge(0) : Huge(low_product(o.x, Huge(1) << int(o.z)));
       }},
      {Op::ShiftRight,
       [](const Operands& o) {
         const Huge all = o.x < 0 ? Huge(-1) : Huge(0);  // a shift by the whole width
         return o.z < 0 || o.z >= o.width ? all : o.x >> int(o.z);
       }},
  };
  return kTable;
}

}  // namespace

Result<WideTensor> point_of_integers(const Step& step) {
  const Op op = step.node.op;
  const auto rule = integer_rules().find(op);
  if (rule == integer_rules().end()) return step.refuse("is not known for integers");
  const bool divides = op == Op::Fmod || op == Op::Remainder || op == Op::FloorDiv;
  const DType type = step.x().dtype;
  WideTensor out = zeros_of(step);
  for (size_t k = 0; k < out.value.size(); ++k) {
    const Operands operands{huge_of(type, step.in.front()->integers[k]),
                            huge_of(type, step.in.back()->integers[k]),
                            8 * tensor::dtype_size(type), type == DType::Bool};
    if (divides && operands.z == 0) return step.refuse("integer division by zero");
    set_integer(out, static_cast<int64_t>(k), static_cast<int64_t>(rule->second(operands)));
  }
  return out;
}

}  // namespace kw::mutation
