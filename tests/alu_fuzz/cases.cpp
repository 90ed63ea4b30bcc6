#include "cases.h"

namespace kw::alu_fuzz {

Int128 IntType::value(uint64_t raw) const {
  const uint64_t low_bits = bits == 64 ? raw : raw & ((uint64_t(1) << bits) - 1);
  if (is_signed && (low_bits >> (bits - 1) & 1) != 0) return Int128(low_bits) - (Int128(1) << bits);
  return Int128(low_bits);
}

uint64_t IntType::wrap(Int128 x) const {
  const uint64_t raw = static_cast<uint64_t>(static_cast<UInt128>(x));
  return bits == 64 ? raw : raw & ((uint64_t(1) << bits) - 1);
}

uint64_t flushed(const Format& format, uint64_t bits, bool ftz) {
  return ftz && format.is_subnormal(bits) ? bits & format.sign() : bits;
}

uint64_t one(const Format& format) {
  return static_cast<uint64_t>(format.bias()) << format.mantissa;
}

uint64_t saturated(const Format& format, uint64_t bits) {
  if (format.is_nan(bits) || (bits & format.sign()) != 0) return 0;
  return bits > one(format) ? one(format) : bits;
}

uint64_t rectified(const Format& format, uint64_t bits) {
  return !format.is_nan(bits) && (bits & format.sign()) != 0 ? 0 : bits;
}

std::string operands(int sources) {
  std::string out = "$d0";
  for (int i = 0; i < sources; ++i) out += ", $s" + std::to_string(i);
  return out;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  add_integer_cases(cases);
  add_bit_cases(cases);
  add_float_cases(cases);
  add_half_cases(cases);
  add_compare_cases(cases);
  add_move_cases(cases);
  add_convert_cases(cases);
  add_packed_cases(cases);
  add_special_cases(cases);
  return cases;
}

}  // namespace kw::alu_fuzz
