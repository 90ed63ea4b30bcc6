// The problem: a kernel may be wrong from some number of blocks on, or where a multiple of an
// argument passes a limit. The constant in the code is then no extent, so a shape of that extent
// proves nothing. So the operands of a comparison are followed back through the registers to the
// parameters and to the grid, and written as an expression of the plan. The alternative, recording
// at run time what each comparison compared, says only that a limit was not reached, not which
// shape reaches it. The cost: values that come from memory or from a loop are not followed.
#include "shapes/code_thresholds.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace kw::shapes {

namespace {

using kernel::Expr;
using kernel::ExprNode;
using kernel::ExprOp;
using ptx::Instruction;
using ptx::Operand;
using ptx::Special;

constexpr int kMostSteps = 24;        // followed back
constexpr size_t kMostNodes = 200;    // of one expression
constexpr size_t kMostFound = 256;    // comparisons of one kernel
constexpr int64_t kWidest = 1 << 30;  // of a factor that a shift stands for

Expr number_expr(int64_t value) {
  Expr expr;
  expr.nodes.push_back({ExprOp::Number, value, "", {}, 0, 0, 0});
  return expr;
}

Expr joined(ExprOp op, const Expr& left, const Expr& right) {
  Expr expr = left;
  const int first = static_cast<int>(left.nodes.size());
  for (ExprNode node : right.nodes) {
    for (int& child : node.children) child += first;
    expr.nodes.push_back(std::move(node));
  }
  expr.nodes.push_back({op, 0, "", {first - 1, static_cast<int>(expr.nodes.size()) - 1}, 0, 0, 0});
  return expr;
}

/// What a register holds. `ranged`: from 0 to this value, over the threads of a launch.
struct Followed {
  Expr expr;
  bool ranged = false;
};

std::optional<Followed> combined(ExprOp op, const std::optional<Followed>& left,
                                 const std::optional<Followed>& right) {
  if (!left || !right || left->expr.nodes.size() + right->expr.nodes.size() > kMostNodes)
    return std::nullopt;
  return Followed{joined(op, left->expr, right->expr), left->ranged || right->ranged};
}

std::optional<int64_t> power_of_two(const Operand& operand) {
  const std::optional<int64_t> shift = integer_of(operand);
  if (!shift || *shift < 0 || (int64_t{1} << std::min<int64_t>(*shift, 62)) > kWidest)
    return std::nullopt;
  return int64_t{1} << *shift;
}

struct ArithmeticRow {
  const char* opcode;
  ExprOp op;
};
constexpr ArithmeticRow kArithmetic[] = {{"add", ExprOp::Add},       {"sub", ExprOp::Subtract},
                                         {"mul", ExprOp::Multiply},  {"div", ExprOp::Divide},
                                         {"rem", ExprOp::Remainder}, {"min", ExprOp::Min},
                                         {"max", ExprOp::Max}};

struct ComparisonRow {
  const char* modifier;
  ExprOp op, with_a_range;  // a range reaches a value where its largest does
};
constexpr ComparisonRow kComparisons[] = {{"lt", ExprOp::Less, ExprOp::Less},
                                          {"lo", ExprOp::Less, ExprOp::Less},
                                          {"le", ExprOp::LessEqual, ExprOp::LessEqual},
                                          {"ls", ExprOp::LessEqual, ExprOp::LessEqual},
                                          {"gt", ExprOp::Greater, ExprOp::Greater},
                                          {"hi", ExprOp::Greater, ExprOp::Greater},
                                          {"ge", ExprOp::GreaterEqual, ExprOp::GreaterEqual},
                                          {"hs", ExprOp::GreaterEqual, ExprOp::GreaterEqual},
                                          {"eq", ExprOp::Equal, ExprOp::GreaterEqual},
                                          {"ne", ExprOp::NotEqual, ExprOp::GreaterEqual}};

class LaunchFlow {
 public:
  LaunchFlow(const ptx::Function& function, const kernel::LaunchDecl& launch)
      : f_(function), launch_(launch), definition_(function.registers.size(), kNone) {
    for (size_t at = 0; at < f_.instructions.size(); ++at) {
      for (const Operand& operand : f_.instructions[at].operands) {
        const bool writes = &operand == &f_.instructions[at].operands.front();
        if (!writes || operand.kind != Operand::Kind::Register || operand.reg < 0) continue;
        int& where = definition_[static_cast<size_t>(operand.reg)];
        where = where == kNone ? static_cast<int>(at) : kMany;
      }
    }
  }

  std::vector<Threshold> run() {
    for (const Instruction& in : f_.instructions) {
      if (found_.size() >= kMostFound) break;
      if (in.opcode == "setp" || in.opcode == "set") add_comparison(in);
      if ((in.opcode == "min" || in.opcode == "max") && in.operands.size() == 3)
        add(value(in.operands[1], 0), value(in.operands[2], 0), ExprOp::LessEqual, in);
      if (in.opcode == "and") add_mask(in);
    }
    return std::move(found_);
  }

 private:
  static constexpr int kNone = -1, kMany = -2;

  void add_comparison(const Instruction& in) {
    const size_t first =
        in.opcode == "setp" && in.operands.size() > 3 && is_predicate(in.operands[1]) ? 2 : 1;
    if (in.operands.size() < first + 2) return;
    for (const ComparisonRow& row : kComparisons) {
      if (!in.has(row.modifier) && !in.has((std::string(row.modifier) + "u").c_str())) continue;
      const auto left = value(in.operands[first], 0), right = value(in.operands[first + 1], 0);
      const bool ranged = (left && left->ranged) || (right && right->ranged);
      return add(left, right, ranged ? row.with_a_range : row.op, in);
    }
  }

  // A mask of low bits loses what is above it.
  void add_mask(const Instruction& in) {
    if (in.operands.size() != 3) return;
    const std::optional<int64_t> mask = integer_of(in.operands[2]);
    if (!mask || *mask <= 0 || *mask >= kWidest || ((*mask + 1) & *mask) != 0) return;
    add(value(in.operands[1], 0), Followed{number_expr(*mask), false}, ExprOp::Greater, in);
  }

  bool is_predicate(const Operand& operand) const {
    return operand.kind == Operand::Kind::Discard ||
           (operand.reg >= 0 &&
            f_.registers[static_cast<size_t>(operand.reg)].type == ptx::Type::Pred);
  }

  void add(const std::optional<Followed>& left, const std::optional<Followed>& right, ExprOp op,
           const Instruction& in) {
    if (!left || !right) return;
    const std::string sides = node_text(left->expr, left->expr.nodes.size() - 1) + " with " +
                              node_text(right->expr, right->expr.nodes.size() - 1);
    if (!seen_.insert({sides, op}).second) return;
    found_.push_back({left->expr, right->expr, op,
                      fmt::format("line {}: the code compares {}", in.line, sides)});
  }

  std::optional<Followed> value(const Operand& operand, int steps) const {
    if (const std::optional<int64_t> known = integer_of(operand))
      return Followed{number_expr(*known), false};
    if (operand.kind == Operand::Kind::Special) return special(operand.special);
    if (operand.kind != Operand::Kind::Register || operand.reg < 0 || steps > kMostSteps)
      return std::nullopt;
    const int at = definition_[static_cast<size_t>(operand.reg)];
    return at < 0 ? std::nullopt : computed(f_.instructions[static_cast<size_t>(at)], steps + 1);
  }

  std::optional<Followed> computed(const Instruction& in, int steps) const {
    const std::vector<Operand>& from = in.operands;
    if (in.guard >= 0 || in.has("cc") || in.has("hi")) return std::nullopt;
    if (in.opcode == "ld" && in.space == ptx::Space::Param && from.size() == 2)
      return argument(from[1]);
    if ((in.opcode == "mov" || in.opcode == "cvt") && from.size() == 2)
      return value(from[1], steps);
    if (in.opcode == "mad" && from.size() == 4)
      return combined(ExprOp::Add,
                      combined(ExprOp::Multiply, value(from[1], steps), value(from[2], steps)),
                      value(from[3], steps));
    if (from.size() != 3) return std::nullopt;
    if (in.opcode == "shl" || in.opcode == "shr") {
      const std::optional<int64_t> factor = power_of_two(from[2]);
      if (!factor) return std::nullopt;
      return combined(in.opcode == "shl" ? ExprOp::Multiply : ExprOp::Divide, value(from[1], steps),
                      Followed{number_expr(*factor), false});
    }
    if (in.opcode == "and") return masked(from[1], integer_of(from[2]), steps);
    const auto row = std::ranges::find_if(
        kArithmetic, [&](const ArithmeticRow& one) { return in.opcode == one.opcode; });
    if (row == std::end(kArithmetic)) return std::nullopt;
    return combined(row->op, value(from[1], steps), value(from[2], steps));
  }

  // Neighbouring bits of a value are a quotient's remainder; a mask of all high bits keeps the
  // quotient.
  std::optional<Followed> masked(const Operand& operand, std::optional<int64_t> mask,
                                 int steps) const {
    if (!mask || *mask == 0 || *mask == INT64_MIN) return std::nullopt;
    const int64_t lowest = *mask & -*mask;
    const int64_t kept = *mask < 0 ? -1 : *mask / lowest;
    if (lowest > kWidest || kept > kWidest) return std::nullopt;
    const auto number_of = [](int64_t number) { return Followed{number_expr(number), false}; };
    auto part = combined(ExprOp::Divide, value(operand, steps), number_of(lowest));
    const bool neighbours = *mask < 0 ? *mask == -lowest : ((kept + 1) & kept) == 0;
    if (!neighbours) return std::nullopt;
    if (kept > 0) part = combined(ExprOp::Remainder, part, number_of(kept + 1));
    return combined(ExprOp::Multiply, part, number_of(lowest));
  }

  std::optional<Followed> argument(const Operand& address) const {
    if (address.param < 0 || address.offset != 0 || address.reg >= 0) return std::nullopt;
    const auto at = static_cast<size_t>(address.param);
    if (at >= launch_.args.size()) return std::nullopt;
    return Followed{launch_.args[at], false};
  }

  std::optional<Followed> special(Special name) const {
    const auto one_of = [&](const std::vector<Expr>& parts, Special first) {
      const auto at = static_cast<size_t>(name) - static_cast<size_t>(first);
      return at < parts.size() ? parts[at] : number_expr(1);
    };
    const auto last = [](const Expr& count) {
      return Followed{joined(ExprOp::Subtract, count, number_expr(1)), true};
    };
    if (name >= Special::NctaidX && name <= Special::NctaidZ)
      return Followed{one_of(launch_.grid, Special::NctaidX), false};
    if (name >= Special::NtidX && name <= Special::NtidZ)
      return Followed{one_of(launch_.block, Special::NtidX), false};
    if (name >= Special::CtaidX && name <= Special::CtaidZ)
      return last(one_of(launch_.grid, Special::CtaidX));
    if (name >= Special::TidX && name <= Special::TidZ)
      return last(one_of(launch_.block, Special::TidX));
    return std::nullopt;
  }

  const ptx::Function& f_;
  const kernel::LaunchDecl& launch_;
  std::vector<int> definition_;  // by register: the one instruction that writes it
  std::set<std::pair<std::string, ExprOp>> seen_;
  std::vector<Threshold> found_;
};

}  // namespace

std::vector<Threshold> code_thresholds(const ptx::Function& kernel,
                                       const kernel::LaunchDecl& launch) {
  return LaunchFlow(kernel, launch).run();
}

}  // namespace kw::shapes
