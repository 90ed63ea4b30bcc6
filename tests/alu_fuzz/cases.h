// One instruction form each: its text, what its operands look like, and what the ISA says it does.
// The tables that use these decide where the instruction runs.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "real.h"

namespace kw::alu_fuzz {

/// What a source register holds, so that random values are interesting ones.
enum class Shape {
  Predicate,
  Integer,
  Amount,
  F16,
  Bf16,
  F32,
  F64,
  F16x2,
  Bf16x2,
  F32x2,
  Small8x2
};

struct Source {
  int bits = 32;  // of the register; 1: predicate
  Shape shape = Shape::Integer;
};

/// For `Case::sm`: only on targets like sm_100a, none of which this program emits; such forms run
/// through isa/ alone.
inline constexpr int kSpecificTarget = 1000;

using Values = const uint64_t*;
struct Case {
  std::string text;      // "add.s32 $d0, $s0, $s1;", possibly several instructions
  std::vector<int> dst;  // register bits; 1: predicate (0 or 1), 8: a .b8 register
  std::vector<Source> src;
  /// The results, or one of the allowed ones when `accepts` is given.
  std::function<void(Values s, uint64_t* d)> want;
  /// For results the ISA leaves open within a limit.
  std::function<bool(Values s, int which, uint64_t got)> accepts;
  /// False for operands whose result the ISA leaves open.
  std::function<bool(Values s)> defined;
  /// Makes random sources meet where it gets interesting; called for some lanes.
  std::function<void(std::mt19937_64&, uint64_t* s)> arrange;
  int sm = 80;   // first target that has it
  int ptx = 80;  // first PTX version: 86 for 8.6
};

void add_integer_cases(std::vector<Case>& cases);
void add_bit_cases(std::vector<Case>& cases);
void add_float_cases(std::vector<Case>& cases);
void add_half_cases(std::vector<Case>& cases);
void add_compare_cases(std::vector<Case>& cases);
void add_move_cases(std::vector<Case>& cases);
void add_convert_cases(std::vector<Case>& cases);
void add_packed_cases(std::vector<Case>& cases);
void add_special_cases(std::vector<Case>& cases);
std::vector<Case> all_cases();

// Helpers of the tables.

/// A scalar float type: name, register, format.
struct FloatType {
  const char* name;
  int bits;
  Format format;
  Shape shape;
};
inline constexpr FloatType kFloat16{"f16", 16, kF16, Shape::F16},
    kFloatBf16{"bf16", 16, kBf16, Shape::Bf16}, kFloat32{"f32", 32, kF32, Shape::F32},
    kFloat64{"f64", 64, kF64, Shape::F64};

/// A scalar integer type.
struct IntType {
  const char* name;
  int bits;
  bool is_signed;
  Int128 value(uint64_t raw) const;
  uint64_t wrap(Int128 x) const;
  Int128 low() const { return is_signed ? -(Int128(1) << (bits - 1)) : 0; }
  Int128 high() const { return (Int128(1) << (is_signed ? bits - 1 : bits)) - 1; }
  int register_bits() const { return bits == 8 ? 16 : bits; }
};
inline constexpr IntType kIntTypes[] = {{"u8", 8, false},   {"s8", 8, true},    {"u16", 16, false},
                                        {"s16", 16, true},  {"u32", 32, false}, {"s32", 32, true},
                                        {"u64", 64, false}, {"s64", 64, true}};

struct RoundName {
  const char* name;
  Mode mode;
};
inline constexpr RoundName kRounds[] = {
    {"rn", Mode::Nearest}, {"rz", Mode::Zero}, {"rm", Mode::Down}, {"rp", Mode::Up}};

/// Subnormals to zero of the same sign, when `ftz`.
uint64_t flushed(const Format& format, uint64_t bits, bool ftz);
/// Into [0, 1], NaN to +0.
uint64_t saturated(const Format& format, uint64_t bits);
/// Negative to +0; NaN stays.
uint64_t rectified(const Format& format, uint64_t bits);
/// 1.0 of the format.
uint64_t one(const Format& format);
/// "$d0, $s0, $s1" for one destination and `sources` sources.
std::string operands(int sources);

}  // namespace kw::alu_fuzz
