// The problem: a kernel that is right at every listed shape may be wrong behind a limit of its own,
// such as "when B >= 5000" or "if (n > 3000)". The author of a module has to write such a limit
// down, in the plan or in the code, so the judge reads it there. Plan comparisons are solved for
// each dim by bisection; where the answer does not grow with the dim (a remainder), small extents
// are tried one by one. Constants of compiled code are taken as extents directly. Following each
// value through the code to the dims was the alternative; it would find limits of derived values
// too, and costs an analysis of every instruction. Secret random extents cover part of that gap.
#include "shapes/thresholds.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "core/contains.h"

namespace kw::shapes {

namespace {

using kernel::ExprNode;
using kernel::ExprOp;

constexpr int64_t kScanned = 1200;  // extents tried one by one where bisection cannot work
constexpr int64_t kLargestConstant = int64_t{1} << 40;
constexpr size_t kMostTableEntries = 64;  // of an initialised variable

struct OperatorText {
  ExprOp op;
  const char* text;
};
constexpr OperatorText kBetween[] = {
    {ExprOp::Add, " + "},        {ExprOp::Subtract, " - "},  {ExprOp::Multiply, " * "},
    {ExprOp::Divide, " / "},     {ExprOp::Remainder, " % "}, {ExprOp::Less, " < "},
    {ExprOp::LessEqual, " <= "}, {ExprOp::Greater, " > "},   {ExprOp::GreaterEqual, " >= "},
    {ExprOp::Equal, " == "},     {ExprOp::NotEqual, " != "}, {ExprOp::And, " && "},
    {ExprOp::Or, " || "}};
constexpr OperatorText kCalled[] = {{ExprOp::CeilDiv, "ceil_div"},
                                    {ExprOp::Min, "min"},
                                    {ExprOp::Max, "max"},
                                    {ExprOp::Pick, "pick"}};

template <size_t N>
const char* text_in(const OperatorText (&rows)[N], ExprOp op) {
  const auto row = std::ranges::find(rows, op, &OperatorText::op);
  return row == std::end(rows) ? nullptr : row->text;
}

bool is_comparison(ExprOp op) {
  return op == ExprOp::Less || op == ExprOp::LessEqual || op == ExprOp::Greater ||
         op == ExprOp::GreaterEqual || op == ExprOp::Equal || op == ExprOp::NotEqual;
}

void collect(const kernel::Expr& expr, std::set<std::string>* seen, std::vector<Threshold>* out) {
  const auto add = [&](int left, int right, ExprOp op, const std::string& text) {
    if (!seen->insert(text).second) return;
    out->push_back({node_expr(expr, static_cast<size_t>(left)),
                    node_expr(expr, static_cast<size_t>(right)), op,
                    fmt::format("line {}: {}", expr.line, text)});
  };
  for (size_t i = 0; i < expr.nodes.size(); ++i) {
    const ExprNode& node = expr.nodes[i];
    if (is_comparison(node.op)) {
      add(node.children[0], node.children[1], node.op, node_text(expr, i));
    } else if (node.op == ExprOp::Min || node.op == ExprOp::Max) {
      for (size_t k = 1; k < node.children.size(); ++k)
        add(node.children[0], node.children[k], ExprOp::LessEqual, node_text(expr, i));
    }
  }
}

bool compare_values(ExprOp op, int64_t left, int64_t right) {
  const bool less = op == ExprOp::Less || op == ExprOp::LessEqual || op == ExprOp::NotEqual;
  const bool greater =
      op == ExprOp::Greater || op == ExprOp::GreaterEqual || op == ExprOp::NotEqual;
  const bool equal = op == ExprOp::Equal || op == ExprOp::LessEqual || op == ExprOp::GreaterEqual;
  return left < right ? less : left > right ? greater : equal;
}

/// Whether the value of an expression can depend on a dim of the task.
bool depends_on(const kernel::Expr& expr, const PlanView& view, const std::string& dim,
                int depth = 0) {
  constexpr int kMostLets = 64;
  return depth < kMostLets && std::ranges::any_of(expr.nodes, [&](const ExprNode& node) {
           if (node.op != ExprOp::Name) return false;
           const auto rule = view.rules().find(node.name);
           if (rule != view.rules().end()) return contains(rule->second.dims, dim);
           const auto let = view.fixed_scope().lets.find(node.name);
           return let != view.fixed_scope().lets.end() &&
                  depends_on(*let->second, view, dim, depth + 1);
         });
}

/// Asks a threshold at extents of one dim.
class Probe {
 public:
  Probe(const Threshold& threshold, const PlanView& view, const task::Dims& base,
        const std::string& dim)
      : threshold_(threshold), view_(view), dims_(base), dim_(dim), scope_(view.fixed_scope()) {}

  std::optional<bool> answer(int64_t extent, ExprOp op) {
    dims_[dim_] = extent;
    if (!view_.enter(dims_, &scope_)) return std::nullopt;
    const Result<int64_t> left = kernel::evaluate(threshold_.left, scope_);
    const Result<int64_t> right = kernel::evaluate(threshold_.right, scope_);
    if (!left || !right) return std::nullopt;
    return compare_values(op, *left, *right);
  }

  /// The extents of the dim's range are low + step * index.
  std::optional<Sides> bisect(const task::DimRange& range, ExprOp op) {
    const int64_t step = range.multiple, low = range.nearest(1);
    const int64_t most = (range.high - low) / step;
    const std::optional<bool> first = answer(low, op);
    if (!first || most <= 0) return std::nullopt;
    // By doubling: the nearest side counts, and far away values leave their range.
    int64_t from = 0, to = 1;
    while (answer(low + to * step, op) == first) {
      if (to >= most) return std::nullopt;
      from = to;
      to = to > most / 2 ? most : to * 2;
    }
    while (to - from > 1) {
      const int64_t middle = from + (to - from) / 2;
      if (answer(low + middle * step, op) == first)
        from = middle;
      else
        to = middle;
    }
    if (!answer(low + to * step, op)) return std::nullopt;
    return Sides{low + from * step, low + to * step};
  }

  std::optional<Sides> scan(const task::DimRange& range, ExprOp op) {
    const int64_t step = range.multiple, low = range.nearest(1);
    std::optional<bool> before = answer(low, op);
    for (int64_t i = 1; i < kScanned && low + i * step <= range.high; ++i) {
      const std::optional<bool> now = answer(low + i * step, op);
      if (before && now && *now != *before) return Sides{low + (i - 1) * step, low + i * step};
      before = now;
    }
    return std::nullopt;
  }

 private:
  const Threshold& threshold_;
  const PlanView& view_;
  task::Dims dims_;
  const std::string& dim_;
  kernel::Scope scope_;
};

}  // namespace

std::optional<int64_t> integer_of(const ptx::Operand& operand) {
  if (operand.kind != ptx::Operand::Kind::Immediate) return std::nullopt;
  double number = 0;
  switch (operand.immediate) {
    case ptx::Operand::ImmediateKind::Integer:
      return static_cast<int64_t>(operand.bits);
    case ptx::Operand::ImmediateKind::Float32:
      number = static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(operand.bits)));
      break;
    case ptx::Operand::ImmediateKind::Float64:
      number = std::bit_cast<double>(operand.bits);
      break;
  }
  if (!(std::fabs(number) < 0x1p40) || std::floor(number) != number) return std::nullopt;
  return static_cast<int64_t>(number);
}

namespace {

class CodeConstants {
 public:
  void add(int64_t value) {
    for (const int64_t extent : {value, value + 1, value - 1}) {
      if (extent < 2 || extent > kLargestConstant || !seen_.insert(extent).second) continue;
      (extent == value + 1 ? behind : out).push_back(extent);
    }
  }

  std::vector<int64_t> out, behind;

 private:
  std::set<int64_t> seen_;
};

void add_constants(const ptx::Module& module, const std::vector<const char*>& opcodes,
                   CodeConstants* found) {
  for (const ptx::Function& function : module.functions) {
    for (const ptx::Instruction& instruction : function.instructions) {
      const auto named = [&](const char* opcode) { return instruction.opcode == opcode; };
      if (std::ranges::none_of(opcodes, named)) continue;
      for (const ptx::Operand& operand : instruction.operands) {
        if (const auto value = integer_of(operand)) found->add(std::abs(*value));
      }
    }
  }
}

/// What keeps low bits only is a limit for what it keeps them of.
void add_masks(const ptx::Module& module, CodeConstants* found) {
  constexpr int64_t kLeast = 255;  // smaller masks tell lanes and vectors apart
  for (const ptx::Function& function : module.functions) {
    for (const ptx::Instruction& in : function.instructions) {
      const bool to_words = in.opcode == "cvt" && (in.has("u16") || in.has("s16"));
      const bool from_integers = in.has("u32") || in.has("s32") || in.has("u64") || in.has("s64");
      if (to_words && from_integers) found->add(0xffff);
      if (in.opcode != "and" || in.operands.size() != 3) continue;
      const auto mask = integer_of(in.operands[2]);
      if (mask && *mask >= kLeast && ((*mask + 1) & *mask) == 0) found->add(*mask);
    }
  }
}

/// Limits may also be read from an initialised variable.
void add_tables(const ptx::Module& module, CodeConstants* found) {
  for (const ptx::Variable& variable : module.variables) {
    const auto size = static_cast<size_t>(ptx::type_size(variable.type));
    if ((size != 4 && size != 8) || variable.init.size() > kMostTableEntries * size) continue;
    for (size_t at = 0; at + size <= variable.init.size(); at += size) {
      int64_t value = 0;
      std::memcpy(&value, variable.init.data() + at, size);
      found->add(value);
    }
  }
}

}  // namespace

std::string node_text(const kernel::Expr& expr, size_t index) {
  const ExprNode& node = expr.nodes[index];
  const auto child = [&](size_t i) {
    const auto at = static_cast<size_t>(node.children[i]);
    const std::string text = node_text(expr, at);
    return text_in(kBetween, expr.nodes[at].op) != nullptr ? "(" + text + ")" : text;
  };
  if (node.op == ExprOp::Number) return std::to_string(node.value);
  if (node.op == ExprOp::Name) return node.name;
  if (node.op == ExprOp::Has) return "has(" + node.name + ")";
  if (node.op == ExprOp::BlocksPerSm) return "blocks_per_sm(" + node.name + ")";
  if (node.op == ExprOp::Negate) return "-" + child(0);
  if (node.op == ExprOp::Not) return "!" + child(0);
  if (const char* between = text_in(kBetween, node.op)) return child(0) + between + child(1);
  std::string text = text_in(kCalled, node.op);
  for (size_t i = 0; i < node.children.size(); ++i) {
    text += i == 0 ? "(" : ", ";
    text += node_text(expr, static_cast<size_t>(node.children[i]));
  }
  return text + ")";
}

kernel::Expr node_expr(const kernel::Expr& expr, size_t node) {
  kernel::Expr part{node_text(expr, node), expr.line, expr.nodes[node].column, {}};
  part.nodes.assign(expr.nodes.begin(), expr.nodes.begin() + static_cast<long>(node) + 1);
  return part;
}

std::vector<Threshold> plan_thresholds(const kernel::Module& module) {
  std::vector<Threshold> found;
  std::set<std::string> seen;
  const auto all = [&](const std::vector<kernel::Expr>& exprs) {
    for (const kernel::Expr& expr : exprs) collect(expr, &seen, &found);
  };
  for (const kernel::Group& group : module.groups) {
    if (group.when) collect(*group.when, &seen, &found);
  }
  for (const kernel::Group& group : module.groups) {
    for (const kernel::LaunchDecl& launch : group.launches) {
      all(launch.grid);
      all(launch.block);
      all(launch.cluster);
      all(launch.args);
      if (launch.shared) collect(*launch.shared, &seen, &found);
    }
    for (const kernel::RepeatDecl& repeat : group.repeats) {
      collect(repeat.begin, &seen, &found);
      collect(repeat.end, &seen, &found);
    }
  }
  for (const kernel::LetDecl& let : module.lets) collect(let.value, &seen, &found);
  for (const kernel::TensorDecl& tensor : module.tensors) all(tensor.shape);
  return found;
}

std::optional<Sides> sides_of(const Threshold& threshold, const PlanView& view,
                              const task::Dims& base, const std::string& dim) {
  if (!depends_on(threshold.left, view, dim) && !depends_on(threshold.right, view, dim))
    return std::nullopt;
  const task::DimRange& range = view.task().dims.at(dim);
  Probe probe(threshold, view, base, dim);
  // A remainder grows and falls again: bisection may find a side far away where a near one exists.
  const auto periodic = [](const kernel::Expr& expr) {
    return std::ranges::any_of(expr.nodes,
                               [](const ExprNode& node) { return node.op == ExprOp::Remainder; });
  };
  if (periodic(threshold.left) || periodic(threshold.right)) {
    if (const auto near = probe.scan(range, threshold.op)) return near;
  }
  const bool exact = threshold.op == ExprOp::Equal || threshold.op == ExprOp::NotEqual;
  if (!exact) {
    const auto found = probe.bisect(range, threshold.op);
    return found ? found : probe.scan(range, threshold.op);
  }
  // Equality holds at the first extent that is not below, if anywhere.
  for (const ExprOp op : {ExprOp::GreaterEqual, ExprOp::Greater}) {
    const auto found = probe.bisect(range, op);
    if (found &&
        probe.answer(found->first, threshold.op) != probe.answer(found->second, threshold.op))
      return found;
  }
  return probe.scan(range, threshold.op);
}

void CodeExtents::merge(const CodeExtents& more) {
  for (const auto member : {&CodeExtents::compared, &CodeExtents::behind, &CodeExtents::other}) {
    for (const int64_t extent : more.*member) {
      if (!contains(this->*member, extent)) (this->*member).push_back(extent);
    }
  }
}

CodeExtents code_extents(const ptx::Module& code) {
  CodeConstants found;
  add_constants(code, {"setp", "set", "min", "max", "slct"}, &found);
  add_masks(code, &found);
  add_tables(code, &found);
  CodeExtents extents;
  extents.compared = std::exchange(found.out, {});
  for (const int64_t extent : std::exchange(found.behind, {})) extents.compared.push_back(extent);
  add_constants(code, {"add", "sub", "xor", "mov", "selp"}, &found);
  extents.behind = std::move(found.behind);
  extents.other = std::move(found.out);
  return extents;
}

}  // namespace kw::shapes
