// The problem: a compiler moves a constant to a register before a loop, and an author computes it
// or hides the value behind simple arithmetic, so the comparison names registers only. We read each
// function's registers: constants go forward through moves, choices and arithmetic on constants
// alone; from a comparison with such constants we go back to a load and invert what lies between.
// The alternative, a solver, would find more, at the price of one. The cost: arithmetic on two
// loaded values, or more than two operations, is not inverted.
#include "inputs/constant_flow.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "core/contains.h"

namespace kw::inputs {

namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;
using Bits = std::vector<uint64_t>;

constexpr size_t kMostValues = 16, kMostFound = 1024, kMostEntries = 64;
constexpr int kMostSteps = 8, kMostInverted = 2;
constexpr uint64_t kBlockSizes[] = {32, 64, 128, 256, 512, 1024};

bool is_float_type(Type type) { return type == Type::F32 || type == Type::F64; }
int bits_of(Type type) { return 8 * std::max(ptx::type_size(type), 1); }
uint64_t cut(uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}
uint64_t extended(uint64_t value, int bits) {
  if (bits >= 64) return value;
  return static_cast<uint64_t>(static_cast<int64_t>(value << (64 - bits)) >> (64 - bits));
}

double number(uint64_t bits, Type type) {
  return type == Type::F64 ? std::bit_cast<double>(bits)
                           : std::bit_cast<float>(static_cast<uint32_t>(bits));
}
uint64_t encoded(double value, Type type) {
  return type == Type::F64 ? std::bit_cast<uint64_t>(value)
                           : std::bit_cast<uint32_t>(static_cast<float>(value));
}

/// An odd number's inverse modulo 2^64.
uint64_t odd_inverse(uint64_t odd) {
  uint64_t inverse = odd;
  for (int i = 0; i < 6; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}

std::optional<uint64_t> computed(const std::string& op, Type type, uint64_t x, uint64_t z) {
  const int bits = bits_of(type);
  if (is_float_type(type)) {
    const double a = number(x, type), b = number(z, type);
    if (op == "add") return encoded(a + b, type);
    if (op == "sub") return encoded(a - b, type);
    if (op == "mul") return encoded(a * b, type);
    return std::nullopt;
  }
  if (op == "add") return cut(x + z, bits);
  if (op == "sub") return cut(x - z, bits);
  if (op == "mul") return cut(x * z, bits);
  if (op == "and") return x & z;
  if (op == "or") return x | z;
  if (op == "xor") return x ^ z;
  if (op == "shl") return z < 64 ? cut(x << z, bits) : 0;
  if (op == "shr") return z < 64 ? cut(x, bits) >> z : 0;
  return std::nullopt;
}

/// The x for which `x op c`, or `c op x`, is the target.
std::optional<uint64_t> inverted(const std::string& op, Type type, uint64_t target, uint64_t c,
                                 bool constant_first) {
  const int bits = bits_of(type);
  if (is_float_type(type)) {
    const double t = number(target, type), b = number(c, type);
    if (op == "add") return encoded(t - b, type);
    if (op == "sub") return encoded(constant_first ? b - t : t + b, type);
    if (op == "mul" && b != 0) return encoded(t / b, type);
    return std::nullopt;
  }
  if (op == "add") return cut(target - c, bits);
  if (op == "sub") return cut(constant_first ? c - target : target + c, bits);
  if (op == "xor") return cut(target ^ c, bits);
  if (op == "and") return (target & c) == target ? std::optional(target) : std::nullopt;
  if (op == "or") return (target & c) == c ? std::optional(target) : std::nullopt;
  if (op == "mul" && c % 2 == 1) return cut(target * odd_inverse(c), bits);
  if (op == "mul" && c != 0 && target % c == 0) return target / c;
  if (op == "shl" && !constant_first && c < 64) return cut(target, bits) >> c;
  if (op == "shr" && !constant_first && c < 64) return cut(target << c, bits);
  return std::nullopt;
}

class FlowReader {
 public:
  FlowReader(const ptx::Module& module, const ptx::Function& function)
      : module_(module), function_(function), made_(function.registers.size()) {
    for (const Instruction& at : function.instructions) {
      if (at.operands.empty() || at.opcode == "st" || at.opcode == "red") continue;
      const Operand& to = at.operands[0];
      if (to.kind == Operand::Kind::Register) made_[index(to)].push_back(&at);
      for (const Operand& part : to.elements) {
        if (to.kind == Operand::Kind::Vector && part.kind == Operand::Kind::Register)
          made_[index(part)].push_back(&at);
      }
    }
  }

  std::vector<TypedConstant> run() {
    for (const Instruction& at : function_.instructions) {
      if (compares(at)) compare(at);
    }
    for (const TypedConstant& one : solved_) add(one, &found_);
    return std::move(found_);
  }

 private:
  static size_t index(const Operand& operand) { return static_cast<size_t>(operand.reg); }
  static bool compares(const Instruction& at) {
    constexpr const char* kOpcodes[] = {"setp", "set", "min", "max"};
    return !at.types.empty() &&
           std::ranges::any_of(kOpcodes, [&](const char* opcode) { return at.opcode == opcode; });
  }
  static void add(const TypedConstant& one, std::vector<TypedConstant>* to) {
    const bool known = std::ranges::any_of(*to, [&](const TypedConstant& other) {
      return other.bits == one.bits && other.type == one.type;
    });
    if (!known && to->size() < kMostFound) to->push_back(one);
  }
  static void merge(const Bits& from, Bits* to) {
    for (const uint64_t value : from) {
      if (to->size() < kMostValues && !contains(*to, value)) to->push_back(value);
    }
  }
  static uint64_t immediate(const Operand& operand, Type type) {
    if (operand.immediate == Operand::ImmediateKind::Float64 && type == Type::F32)
      return encoded(std::bit_cast<double>(operand.bits), type);
    return cut(operand.bits, bits_of(type));
  }

  void compare(const Instruction& at) {
    const Type type = at.types.back();
    std::vector<const Operand*> sides;
    for (size_t i = 1; i < at.operands.size() && sides.size() < 2; ++i) {
      const Operand& operand = at.operands[i];
      const bool value = operand.kind == Operand::Kind::Immediate ||
                         (operand.kind == Operand::Kind::Register &&
                          function_.registers[index(operand)].type != Type::Pred);
      if (value) sides.push_back(&operand);
    }
    if (sides.size() < 2) return;
    for (const bool swapped : {false, true}) {
      const Operand &constant = *sides[swapped ? 0 : 1], &other = *sides[swapped ? 1 : 0];
      const Bits targets = possible(constant, type, kMostSteps);
      for (const uint64_t target : targets) {
        if (constant.kind != Operand::Kind::Immediate) add(typed(target, type), &found_);
        if (other.kind == Operand::Kind::Register) solve(other, target, type, 0, kMostSteps);
      }
    }
  }
  static TypedConstant typed(uint64_t bits, Type type) {
    return {is_float_type(type) ? bits : extended(bits, bits_of(type)), type};
  }

  /// The constants that a register may hold: through moves and choices from any of its
  /// definitions.
  Bits possible(const Operand& operand, Type type, int steps) const {
    if (operand.kind != Operand::Kind::Register) return fixed(operand, type, steps);
    Bits all;
    if (steps == 0 || made_[index(operand)].size() > 8) return all;
    for (const Instruction* at : made_[index(operand)]) {
      const std::string& op = at->opcode;
      const bool chooses = op == "mov" || op == "selp" || op == "min" || op == "max";
      for (size_t i = 1; chooses && i < std::min<size_t>(at->operands.size(), 3); ++i) {
        if (at->operands[0].kind != Operand::Kind::Vector && !refers(at->operands[i], operand))
          merge(possible(at->operands[i], type, steps - 1), &all);
      }
    }
    merge(fixed(operand, type, steps), &all);
    return all;
  }
  static bool refers(const Operand& operand, const Operand& other) {
    return operand.kind == Operand::Kind::Register && operand.reg == other.reg;
  }

  /// The values of what is computed from constants alone.
  Bits fixed(const Operand& operand, Type type, int steps) const {
    if (operand.kind == Operand::Kind::Immediate) return {immediate(operand, type)};
    if (operand.kind == Operand::Kind::Special && operand.special == ptx::Special::NtidX)
      return {std::begin(kBlockSizes), std::end(kBlockSizes)};
    if (operand.kind != Operand::Kind::Register || steps == 0) return {};
    const auto& made = made_[index(operand)];
    if (made.size() != 1 || made[0]->types.empty() ||
        made[0]->operands[0].kind == Operand::Kind::Vector)
      return {};
    const Instruction& at = *made[0];
    const Type of = at.types.back();
    if (at.opcode == "ld" && at.operands.size() > 1) return table(at.operands[1], of);
    if ((at.opcode == "mov" || whole_cast(at)) && at.operands.size() == 2)
      return fixed(at.operands[1], of, steps - 1);
    const bool fused = at.opcode == "mad" || at.opcode == "fma";
    if (at.operands.size() != (fused ? 4U : 3U) || at.has("hi")) return {};
    Bits all = combined(fused ? "mul" : at.opcode, of, fixed(at.operands[1], of, steps - 1),
                        fixed(at.operands[2], of, steps - 1));
    if (fused) all = combined("add", of, all, fixed(at.operands[3], of, steps - 1));
    return all;
  }
  static Bits combined(const std::string& op, Type type, const Bits& left, const Bits& right) {
    Bits all;
    for (const uint64_t x : left) {
      for (const uint64_t z : right) {
        if (const auto value = computed(op, type, x, z)) merge({*value}, &all);
      }
    }
    return all;
  }
  static bool whole_cast(const Instruction& at) {
    return at.opcode == "cvt" && std::ranges::none_of(at.types, [](Type type) {
             return type >= Type::F16 && type <= Type::Ue8m0x2;
           });
  }

  /// The values of a small table.
  Bits table(const Operand& address, Type type) const {
    const int symbol = symbol_of(address, kMostSteps);
    const auto size = static_cast<size_t>(ptx::type_size(type));
    Bits all;
    if (symbol < 0 || size == 0 || size > 8) return all;
    const ptx::Variable& variable = module_.variables[static_cast<size_t>(symbol)];
    if (variable.init.size() > kMostEntries * size) return all;
    for (size_t at = 0; at + size <= variable.init.size(); at += size) {
      uint64_t value = 0;
      std::memcpy(&value, variable.init.data() + at, size);
      merge({value}, &all);
    }
    return all;
  }
  int symbol_of(const Operand& operand, int steps) const {
    if (operand.symbol >= 0 && !operand.local_symbol) return operand.symbol;
    if (operand.reg < 0 || steps == 0 || made_[index(operand)].size() != 1) return -1;
    const Instruction& at = *made_[index(operand)][0];
    const bool moves =
        at.opcode == "mov" || at.opcode == "add" || at.opcode == "mad" || at.opcode == "cvta";
    for (size_t i = 1; moves && i < at.operands.size(); ++i) {
      const int symbol = symbol_of(at.operands[i], steps - 1);
      if (symbol >= 0) return symbol;
    }
    return -1;
  }

  /// Notes the loaded value for which the register has the target's bits.
  void solve(const Operand& operand, uint64_t target, Type type, int operations, int steps) {
    if (operand.kind != Operand::Kind::Register || steps == 0) return;
    const auto& made = made_[index(operand)];
    if (made.size() != 1 || made[0]->types.empty()) return;
    const Instruction& at = *made[0];
    const Type of = at.types.back();
    if (at.opcode == "ld") {
      // Registers may be untyped.
      const Type own = function_.registers[index(operand)].type;
      if (operations > 0) add(typed(target, is_float_type(type) ? type : own), &solved_);
      return;
    }
    if (at.operands[0].kind == Operand::Kind::Vector) return solve_half(at, operand, target);
    if ((at.opcode == "mov" || whole_cast(at)) && at.operands.size() == 2)
      return solve(at.operands[1], cut(target, bits_of(of)), of, operations, steps - 1);
    if (operations == kMostInverted || at.has("hi")) return;
    if (at.opcode == "fma" || at.opcode == "mad") return solve_fused(at, target, operations, steps);
    if (at.operands.size() != 3) return;
    for (const size_t side : {1U, 2U}) {
      const Operand &constant = at.operands[side], &other = at.operands[3 - side];
      for (const uint64_t c : fixed(constant, of, steps)) {
        if (const auto x = inverted(at.opcode, of, target, c, side == 1))
          solve(other, *x, of, operations + 1, steps - 1);
      }
    }
  }
  void solve_fused(const Instruction& at, uint64_t target, int operations, int steps) {
    const Type of = at.types.back();
    if (at.operands.size() != 4) return;
    for (const uint64_t more : fixed(at.operands[3], of, steps)) {
      const auto product = inverted("add", of, target, more, false);
      for (const size_t side : {1U, 2U}) {
        for (const uint64_t c : fixed(at.operands[side], of, steps)) {
          const auto x = inverted("mul", of, *product, c, false);
          if (x) solve(at.operands[3 - side], *x, of, operations + 1, steps - 1);
        }
      }
    }
  }
  /// Half of a double: the other half makes an ordinary number.
  void solve_half(const Instruction& at, const Operand& operand, uint64_t target) {
    const std::vector<Operand>& parts = at.operands[0].elements;
    if (at.opcode != "mov" || parts.size() != 2 || at.operands[1].kind != Operand::Kind::Register)
      return;
    const Type type = function_.registers[index(at.operands[1])].type;
    if (ptx::type_size(type) != 8) return;
    const bool low = refers(parts[0], operand);
    const uint64_t rest = type == Type::F64 ? uint64_t{0x3ff80000} << 32 : 0;
    add({low ? rest | cut(target, 32) : target << 32, type}, &solved_);
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  std::vector<std::vector<const Instruction*>> made_;
  std::vector<TypedConstant> found_, solved_;
};

}  // namespace

std::vector<TypedConstant> flowing_constants(const ptx::Module& module,
                                             const ptx::Function& function) {
  return FlowReader(module, function).run();
}

}  // namespace kw::inputs
