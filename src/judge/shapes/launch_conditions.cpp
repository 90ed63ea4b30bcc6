// The problem: a kernel may be wrong only where two remainders meet, at squares, or where bits of
// two dims agree. No constant of the code is then an extent, and no dim alone decides. Solving such
// conditions would need a solver for each kind. But what a launch decides costs nanoseconds to
// compute: so the instructions behind each predicate are kept, and evaluated as PTX says, at
// thousands of shapes (condition_shapes.cpp). The cost: what depends on a loop or on loaded values
// is not followed, and four conditions that must meet are found only if the code joins them.
#include "shapes/launch_conditions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

namespace kw::shapes {

using ptx::Instruction;
using ptx::Operand;
using ptx::Special;
using ptx::Type;

namespace {

constexpr size_t kMostConditionSteps = 4000;
constexpr int kMostDepth = 64;

bool is_float32(Type type) { return type == Type::F32; }
bool is_signed(Type type) {
  return type == Type::S8 || type == Type::S16 || type == Type::S32 || type == Type::S64;
}

/// Of the types that the followed instructions have.
bool is_plain(Type type) {
  return type == Type::F32 || type == Type::F64 || type == Type::Pred ||
         (type >= Type::B8 && type <= Type::S64 && type != Type::B128);
}

int64_t as_signed(uint64_t bits, Type type) {
  const int shift = 64 - 8 * ptx::type_size(type);
  return static_cast<int64_t>(bits << shift) >> shift;
}
uint64_t cut(uint64_t bits, Type type) {
  if (type == Type::Pred) return bits & 1;
  const int size = ptx::type_size(type);
  return size <= 0 || size >= 8 ? bits : bits & ((uint64_t{1} << (8 * size)) - 1);
}
float as_float(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
uint64_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }

using Value = std::optional<uint64_t>;

template <class T>
std::optional<bool> compared(const Instruction& in, T a, T b) {
  const auto either = [&](const char* one, const char* other) {
    return in.has(one) || in.has(other);
  };
  if (in.has("eq") || in.has("equ")) return a == b;
  if (in.has("ne") || in.has("neu")) return a != b;
  if (either("lt", "lo") || in.has("ltu")) return a < b;
  if (either("le", "ls") || in.has("leu")) return a <= b;
  if (either("gt", "hi") || in.has("gtu")) return a > b;
  if (either("ge", "hs") || in.has("geu")) return a >= b;
  return std::nullopt;
}

std::optional<bool> comparison(const Instruction& in, Type type, uint64_t a, uint64_t b) {
  if (is_float32(type)) return compared(in, as_float(a), as_float(b));
  if (type == Type::F64) return compared(in, std::bit_cast<double>(a), std::bit_cast<double>(b));
  if (is_signed(type)) return compared(in, as_signed(a, type), as_signed(b, type));
  return compared(in, cut(a, type), cut(b, type));
}

/// Of binary32: what a rounded root or logarithm of an extent decides.
Value float_result(const Instruction& in, const std::vector<Value>& from) {
  const auto x = [&](size_t at) { return as_float(*from[at]); };
  const std::string& op = in.opcode;
  if (op == "add") return bits_of(x(0) + x(1));
  if (op == "sub") return bits_of(x(0) - x(1));
  if (op == "mul") return bits_of(x(0) * x(1));
  if (op == "div") return bits_of(x(0) / x(1));
  if (op == "fma" || op == "mad") return bits_of(std::fma(x(0), x(1), x(2)));
  if (op == "min") return bits_of(std::fmin(x(0), x(1)));
  if (op == "max") return bits_of(std::fmax(x(0), x(1)));
  if (op == "neg") return bits_of(-x(0));
  if (op == "abs") return bits_of(std::fabs(x(0)));
  if (op == "sqrt") return bits_of(std::sqrt(x(0)));
  if (op == "rsqrt") return bits_of(1 / std::sqrt(x(0)));
  if (op == "rcp") return bits_of(1 / x(0));
  if (op == "lg2") return bits_of(std::log2(x(0)));
  if (op == "ex2") return bits_of(std::exp2(x(0)));
  return std::nullopt;
}

/// The upper half of a product, or all of it.
Value product(const Instruction& in, Type type, uint64_t a, uint64_t b) {
  __extension__ typedef __int128 Wide;
  const Wide whole = is_signed(type) ? static_cast<Wide>(as_signed(a, type)) * as_signed(b, type)
                                     : static_cast<Wide>(cut(a, type)) * cut(b, type);
  if (in.has("hi")) return cut(static_cast<uint64_t>(whole >> (8 * ptx::type_size(type))), type);
  const auto low = static_cast<uint64_t>(whole);
  return in.has("wide") ? low : cut(low, type);
}

Value quotient(const Instruction& in, Type type, uint64_t a, uint64_t b) {
  const bool rest = in.opcode == "rem";
  if (cut(b, type) == 0) return std::nullopt;
  if (!is_signed(type)) return rest ? cut(a, type) % cut(b, type) : cut(a, type) / cut(b, type);
  const int64_t x = as_signed(a, type), y = as_signed(b, type);
  if (y == -1) return cut(rest ? 0 : 0 - static_cast<uint64_t>(x), type);
  return cut(static_cast<uint64_t>(rest ? x % y : x / y), type);
}

Value shifted(const Instruction& in, Type type, uint64_t a, uint64_t by) {
  const auto bits = static_cast<uint64_t>(8 * ptx::type_size(type));
  by = std::min(cut(by, Type::U32), bits);
  if (in.opcode == "shl") return by >= bits ? 0 : cut(a << by, type);
  if (is_signed(type))
    return cut(static_cast<uint64_t>(as_signed(a, type) >> std::min(by, bits - 1)), type);
  return by >= bits ? 0 : cut(a, type) >> by;
}

Value converted(const Instruction& in, uint64_t a) {
  if (in.types.size() < 2) return std::nullopt;
  const Type to = in.types[0], from = in.types[1];
  const bool to_float = to == Type::F32 || to == Type::F64;
  const bool from_float = from == Type::F32 || from == Type::F64;
  if (!is_plain(to) || !is_plain(from)) return std::nullopt;
  if (!to_float && !from_float)
    return cut(is_signed(from) ? static_cast<uint64_t>(as_signed(a, from)) : cut(a, from), to);
  double value = 0;
  if (from_float)
    value = from == Type::F32 ? as_float(a) : std::bit_cast<double>(a);
  else
    value = is_signed(from) ? static_cast<double>(as_signed(a, from))
                            : static_cast<double>(cut(a, from));
  if (in.has("rzi")) value = std::trunc(value);
  if (in.has("rni")) value = std::nearbyint(value);
  if (in.has("rmi")) value = std::floor(value);
  if (in.has("rpi")) value = std::ceil(value);
  if (to == Type::F32) return bits_of(static_cast<float>(value));
  if (to == Type::F64) return std::bit_cast<uint64_t>(value);
  if (!(std::fabs(value) < 9e18)) return std::nullopt;
  return cut(static_cast<uint64_t>(static_cast<int64_t>(value)), to);
}

Value integer_result(const Instruction& in, Type type, const std::vector<Value>& from) {
  const auto x = [&](size_t at) { return *from[at]; };
  const std::string& op = in.opcode;
  if (op == "add") return cut(x(0) + x(1), type);
  if (op == "sub") return cut(x(0) - x(1), type);
  if (op == "mul") return product(in, type, x(0), x(1));
  if (op == "mad") {
    const Value whole = product(in, type, x(0), x(1));
    return whole ? Value(in.has("wide") ? *whole + x(2) : cut(*whole + x(2), type)) : whole;
  }
  if (op == "div" || op == "rem") return quotient(in, type, x(0), x(1));
  if (op == "min" || op == "max") {
    const bool less = is_signed(type) ? as_signed(x(0), type) < as_signed(x(1), type)
                                      : cut(x(0), type) < cut(x(1), type);
    return cut(less == (op == "min") ? x(0) : x(1), type);
  }
  if (op == "neg") return cut(0 - x(0), type);
  if (op == "abs")
    return cut(as_signed(x(0), type) < 0 ? 0 - x(0) : x(0), type);
  if (op == "and") return cut(x(0) & x(1), type);
  if (op == "or") return cut(x(0) | x(1), type);
  if (op == "xor") return cut(x(0) ^ x(1), type);
  if (op == "not") return cut(~x(0), type);
  if (op == "shl" || op == "shr") return shifted(in, type, x(0), x(1));
  if (op == "popc") return static_cast<uint64_t>(std::popcount(cut(x(0), type)));
  if (op == "clz") {
    const auto unused = static_cast<uint64_t>(64 - 8 * ptx::type_size(type));
    return static_cast<uint64_t>(std::countl_zero(cut(x(0), type))) - unused;
  }
  return std::nullopt;
}

}  // namespace

LaunchConditions::Value LaunchConditions::computed(const Instruction& in,
                                                   const std::vector<Value>& from) {
  for (const Value& one : from) {
    if (!one) return std::nullopt;
  }
  if (in.types.empty() || !is_plain(in.types.front())) return std::nullopt;
  const Type type = in.types.front();
  if (in.opcode == "mov") return from[0];
  if (in.opcode == "cvt") return converted(in, *from[0]);
  if (in.opcode == "selp") return (*from[2] & 1) != 0 ? from[0] : from[1];
  if (in.opcode == "setp") {
    const std::optional<bool> holds = comparison(in, in.types.back(), *from[0], *from[1]);
    if (!holds) return std::nullopt;
    if (from.size() == 2) return uint64_t{*holds};
    const bool other = (*from[2] & 1) != 0;
    if (in.has("and")) return uint64_t{*holds && other};
    if (in.has("or")) return uint64_t{*holds || other};
    return in.has("xor") ? Value(uint64_t{*holds != other}) : std::nullopt;
  }
  return is_float32(type) ? float_result(in, from) : integer_result(in, type, from);
}

/// Follows registers back to the launch.
class ConditionReader {
 public:
  ConditionReader(const ptx::Function& function, const kernel::LaunchDecl& launch,
                  LaunchConditions* out)
      : f_(function), launch_(launch), out_(*out), definition_(function.registers.size(), kNone) {
    for (size_t at = 0; at < f_.instructions.size(); ++at) {
      const std::vector<Operand>& operands = f_.instructions[at].operands;
      if (operands.empty()) continue;
      note(operands.front(), at);
      for (const Operand& element : operands.front().elements) note(element, at);
      if (operands.size() > 1 && f_.instructions[at].opcode == "setp" && is_predicate(operands[1]))
        note(operands[1], at);
    }
  }

  void run() {
    for (size_t reg = 0; reg < f_.registers.size(); ++reg) {
      if (out_.predicates_.size() >= kMostPredicates) return;
      if (f_.registers[reg].type != Type::Pred || definition_[reg] < 0) continue;
      const std::optional<int> step = step_of(static_cast<int>(reg), 0);
      if (step) out_.predicates_.push_back(*step);
    }
  }

 private:
  static constexpr int kNone = -1, kMany = -2;
  using Source = LaunchConditions::Source;

  void note(const Operand& operand, size_t at) {
    if (operand.kind != Operand::Kind::Register || operand.reg < 0) return;
    int& where = definition_[static_cast<size_t>(operand.reg)];
    where = where == kNone ? static_cast<int>(at) : kMany;
  }

  bool is_predicate(const Operand& operand) const {
    return operand.kind == Operand::Kind::Register && operand.reg >= 0 &&
           f_.registers[static_cast<size_t>(operand.reg)].type == Type::Pred;
  }

  std::optional<int> keep(LaunchConditions::Step step) {
    if (out_.steps_.size() >= kMostConditionSteps) return std::nullopt;
    out_.steps_.push_back(std::move(step));
    return static_cast<int>(out_.steps_.size()) - 1;
  }

  std::optional<int> step_of(int reg, int depth) {
    const auto known = known_.find(reg);
    if (known != known_.end()) return known->second;
    const int at = definition_[static_cast<size_t>(reg)];
    std::optional<int> step;
    if (at >= 0 && depth < kMostDepth) step = read(f_.instructions[static_cast<size_t>(at)], depth);
    known_[reg] = step;
    return step;
  }

  std::optional<int> read(const Instruction& in, int depth) {
    const std::vector<Operand>& operands = in.operands;
    if (in.guard >= 0 || operands.size() < 2 || in.has("cc")) return std::nullopt;
    if (in.opcode == "ld")
      return in.space == ptx::Space::Param && operands.size() == 2 ? argument(operands[1])
                                                                   : std::nullopt;
    constexpr const char* kFollowed[] = {"setp", "and", "or",  "xor",  "not", "mov", "cvt",  "selp",
                                         "add",  "sub", "mul", "mad",  "div", "rem", "min",  "max",
                                         "neg",  "abs", "shl", "shr",  "popc", "clz", "sqrt", "fma",
                                         "rcp",  "lg2", "ex2", "rsqrt"};
    if (std::ranges::find(kFollowed, in.opcode) == std::end(kFollowed)) return std::nullopt;
    if (in.opcode == "setp" && is_predicate(operands[1])) return std::nullopt;
    LaunchConditions::Step step;
    for (size_t i = 1; i < operands.size(); ++i) {
      const std::optional<Source> source = source_of(operands[i], depth + 1);
      if (!source) return std::nullopt;
      step.sources.push_back(*source);
    }
    step.instruction = in;
    return keep(std::move(step));
  }

  std::optional<Source> source_of(const Operand& operand, int depth) {
    if (operand.negated) return std::nullopt;
    if (operand.kind == Operand::Kind::Immediate) return Source{-1, operand.bits};
    std::optional<int> step;
    if (operand.kind == Operand::Kind::Special) step = special(operand.special);
    if (operand.kind == Operand::Kind::Register && operand.reg >= 0)
      step = step_of(operand.reg, depth);
    return step ? std::optional(Source{*step, 0}) : std::nullopt;
  }

  std::optional<int> of_plan(const kernel::Expr& expr) {
    LaunchConditions::Step step;
    step.expr = expr;
    return keep(std::move(step));
  }

  std::optional<int> argument(const Operand& address) {
    if (address.param < 0 || address.offset != 0 || address.reg >= 0) return std::nullopt;
    const auto at = static_cast<size_t>(address.param);
    return at < launch_.args.size() ? of_plan(launch_.args[at]) : std::nullopt;
  }

  // An index differs from thread to thread.
  std::optional<int> special(Special name) {
    const auto one_of = [&](const std::vector<kernel::Expr>& parts, Special first) {
      const auto at = static_cast<size_t>(name) - static_cast<size_t>(first);
      return at < parts.size() ? of_plan(parts[at]) : std::nullopt;
    };
    if (name >= Special::NctaidX && name <= Special::NctaidZ)
      return one_of(launch_.grid, Special::NctaidX);
    if (name >= Special::NtidX && name <= Special::NtidZ)
      return one_of(launch_.block, Special::NtidX);
    return std::nullopt;
  }

  const ptx::Function& f_;
  const kernel::LaunchDecl& launch_;
  LaunchConditions& out_;
  std::vector<int> definition_;  // by register: the one instruction that writes it
  std::map<int, std::optional<int>> known_;
};

LaunchConditions::LaunchConditions(const ptx::Function& kernel, const kernel::LaunchDecl& launch) {
  ConditionReader(kernel, launch, this).run();
}

std::vector<std::optional<bool>> LaunchConditions::at(const kernel::Scope& scope) const {
  std::vector<Value> values(steps_.size());
  std::vector<Value> from;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (step.expr) {
      const Result<int64_t> value = kernel::evaluate(*step.expr, scope);
      if (value) values[i] = static_cast<uint64_t>(*value);
      continue;
    }
    from.clear();
    for (const Source& source : step.sources)
      from.push_back(source.step < 0 ? Value(source.bits)
                                     : values[static_cast<size_t>(source.step)]);
    values[i] = computed(step.instruction, from);
  }
  std::vector<std::optional<bool>> holds;
  for (const int step : predicates_) {
    const Value& value = values[static_cast<size_t>(step)];
    holds.push_back(value ? std::optional((*value & 1) != 0) : std::nullopt);
  }
  return holds;
}

}  // namespace kw::shapes
