// The problem: a kernel with a secret condition (`if (x == 0.7312f)`) is right for every input that
// does not hold the secret. But the secret is in its code. So we read all immediate operands of the
// compiled PTX. The text of the source would not do: macros and arithmetic hide constants there,
// and the compiler folds them. An integer may be the bits of a float, so each is read in every
// type that gives an ordinary number. constant_flow.h adds
// what comparisons get through registers. The cost: a secret behind much arithmetic is not found.
// The lists are limited; comparisons come first, and there is room for more than code written by
// hand has. What has none is counted, so that the verdict can say it.
#include "inputs/immediates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "core/contains.h"
#include "inputs/constant_flow.h"

namespace kw::inputs {

namespace {

constexpr size_t kMostCompared = 1024, kMostOthers = 64;

/// Sums of ordinary values do not lose it. Sentinels of comparisons (-1e30) need not be ordinary.
bool is_ordinary(double value) {
  return std::isfinite(value) && std::fabs(value) > 0x1p-40 && std::fabs(value) < 0x1p60;
}

double half_value(uint16_t bits, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  if (exponent == 0 || exponent == (1 << exponent_bits) - 1) return 0;
  const double mantissa =
      1 + static_cast<double>(bits & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits);
  return std::ldexp((bits & 0x8000) != 0 ? -mantissa : mantissa, exponent - bias);
}

/// Returns false when there is no room.
template <typename T>
bool add_once(std::vector<T>* values, T value, size_t most) {
  if (contains(*values, value)) return true;
  if (values->size() >= most) return false;
  values->push_back(value);
  return true;
}

class ImmediateReader {
 public:
  Immediates run(const ptx::Module& module) {
    for (const ptx::Function& function : module.functions) {
      for (const ptx::Instruction& instruction : function.instructions) {
        // Offsets of addresses are not operands of this kind.
        for (const ptx::Operand& operand : instruction.operands) read(instruction, operand);
      }
    }
    for (const ptx::Function& function : module.functions) {
      for (const TypedConstant& one : flowing_constants(module, function)) note(one);
    }
    Immediates all = std::move(compared_);
    all.compared_numbers = all.numbers.size();
    all.compared_integers = all.integers.size();
    for (const double value : others_.numbers)
      add_once(&all.numbers, value, kMostCompared + kMostOthers);
    for (const int64_t value : others_.integers)
      add_once(&all.integers, value, kMostCompared + kMostOthers);
    return all;
  }

 private:
  static bool compares(const ptx::Instruction& instruction) {
    constexpr const char* kOpcodes[] = {"setp", "set", "min", "max", "selp", "slct"};
    return std::ranges::any_of(kOpcodes,
                               [&](const char* opcode) { return instruction.opcode == opcode; });
  }

  void read(const ptx::Instruction& instruction, const ptx::Operand& operand) {
    if (operand.kind != ptx::Operand::Kind::Immediate) return;
    const bool first = compares(instruction);
    Immediates* to = first ? &compared_ : &others_;
    const size_t most = first ? kMostCompared : kMostOthers;
    switch (operand.immediate) {
      case ptx::Operand::ImmediateKind::Float32:
        return add(std::bit_cast<float>(static_cast<uint32_t>(operand.bits)), first, to, most);
      case ptx::Operand::ImmediateKind::Float64:
        return add(std::bit_cast<double>(operand.bits), first, to, most);
      case ptx::Operand::ImmediateKind::Integer:
        break;
    }
    const int size = instruction.types.empty() ? 4 : ptx::type_size(instruction.types.back());
    read_integer(operand.bits, size, to, most);
  }

  void note(const TypedConstant& one) {
    if (one.type == ptx::Type::F32)
      return add(std::bit_cast<float>(static_cast<uint32_t>(one.bits)), true, &compared_,
                 kMostCompared);
    if (one.type == ptx::Type::F64)
      return add(std::bit_cast<double>(one.bits), true, &compared_, kMostCompared);
    read_integer(one.bits, ptx::type_size(one.type), &compared_, kMostCompared);
  }

  void add(double value, bool any_size, Immediates* to, size_t most) {
    const bool sentinel = any_size && std::isfinite(value) && std::fabs(value) >= 1;
    if (!is_ordinary(value) && !sentinel) return;
    if (!add_once(&to->numbers, value, most) && any_size) ++to->left_out;
  }

  void read_integer(uint64_t bits, int size, Immediates* to, size_t most) {
    const auto value = static_cast<int64_t>(bits);
    if (!add_once(&to->integers, value, most) && to == &compared_) ++to->left_out;
    // Sizes and indices: a float is rarely compared as an integer.
    if (std::llabs(value) <= int64_t{1} << 24 && is_ordinary(static_cast<double>(value)))
      add_once(&others_.numbers, static_cast<double>(value), kMostOthers);
    if (size == 8) add(std::bit_cast<double>(bits), false, to, most);
    if (size == 4) add(std::bit_cast<float>(static_cast<uint32_t>(bits)), false, to, most);
    if (size == 2 || size == 4) {
      const auto low = static_cast<uint16_t>(bits);
      const bool both = size == 4 && low != static_cast<uint16_t>(bits >> 16);
      if (both || low == 0) return;
      add(half_value(low, 5), false, to, most);
      add(half_value(low, 8), false, to, most);
    }
  }

  Immediates compared_, others_;
};

}  // namespace

Immediates immediates_of(const ptx::Module& code) { return ImmediateReader().run(code); }

void merge(const Immediates& from, Immediates* to) {
  Immediates all;
  const auto add = [&](const Immediates& one, bool compared) {
    const auto part = [&](const auto& values, size_t count, auto* to_values) {
      for (size_t i = compared ? 0 : count; i < (compared ? count : values.size()); ++i)
        add_once(to_values, values[i], compared ? 2 * kMostCompared : 4 * kMostOthers);
    };
    part(one.numbers, one.compared_numbers, &all.numbers);
    part(one.integers, one.compared_integers, &all.integers);
  };
  add(*to, true);
  add(from, true);
  all.left_out = std::max(to->left_out, from.left_out);
  all.compared_numbers = all.numbers.size();
  all.compared_integers = all.integers.size();
  add(*to, false);
  add(from, false);
  *to = std::move(all);
}

}  // namespace kw::inputs
