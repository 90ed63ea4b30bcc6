// The problem: a launch group that no listed shape selects is not judged, and a wrong kernel
// in that group is not detected. Either some shape selects the group, and then it must run, or it
// is shown that no shape does. The search takes extents that the guards themselves suggest (both
// sides of every comparison, every constant with its neighbours) and tries combinations, the
// smallest first. The proof evaluates guards over intervals: tunables and the device are numbers,
// dims are ranges. A group behind another one with a subset of its conditions is never selected
// either. A solver for integer constraints was the alternative; guards are short, and a guard that
// defeats both search and proof makes the verdict incomplete.
#include "shapes/reach.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/text.h"

namespace kw::shapes {

namespace {

using kernel::ExprNode;
using kernel::ExprOp;
__extension__ using Big = __int128;

constexpr size_t kMostCombinations = 10000;
constexpr size_t kMostExtents = 1000;  // per dim
constexpr Big kBiggest = static_cast<Big>(1) << 120;
constexpr int kMostNested = 64;
constexpr int64_t kCommon[] = {1,    2,    3,    4,    5,    7,    8,    16,    31,    32,    33,
                               48,   64,   96,   127,  128,  129,  255,  256,   257,   512,   1000,
                               1023, 1024, 1025, 2048, 4096, 4099, 8192, 16384, 65536, 131072};

/// All values that an expression can have.
struct Span {
  Big low = 0, high = 0;
  bool is(Big value) const { return low == value && high == value; }
};

Big clamped(Big value) { return std::clamp(value, -kBiggest, kBiggest); }

Span truth(bool can_be_false, bool can_be_true) {
  return {can_be_false ? 0 : 1, can_be_true ? 1 : 0};
}

class Spans {
 public:
  explicit Spans(const PlanView& view) : view_(view) {}

  /// Not set: nothing is known.
  std::optional<Span> of(const kernel::Expr& expr, size_t index, int depth = 0) const {
    if (depth > kMostNested) return std::nullopt;
    const ExprNode& node = expr.nodes[index];
    if (node.op == ExprOp::Number) return Span{node.value, node.value};
    if (node.op == ExprOp::Name) return name(node.name, depth);
    if (node.op == ExprOp::Has) {
      const bool given = view_.fixed_scope().absent.count(node.name) == 0;
      return truth(!given, given);
    }
    if (node.op == ExprOp::BlocksPerSm) return std::nullopt;
    if (node.op == ExprOp::Remainder && divides(expr, node)) return Span{0, 0};
    std::vector<std::optional<Span>> parts;
    for (const int child : node.children)
      parts.push_back(of(expr, static_cast<size_t>(child), depth + 1));
    // A condition is decided as soon as one side is.
    if (node.op == ExprOp::And || node.op == ExprOp::Or) return logic(node.op, parts);
    if (std::ranges::any_of(parts, [](const auto& part) { return !part.has_value(); }))
      return std::nullopt;
    return apply(node.op, parts);
  }

 private:
  std::optional<Span> name(const std::string& name, int depth) const {
    if (const auto rule = view_.rules().find(name); rule != view_.rules().end()) {
      Span span{rule->second.times, rule->second.times};
      for (const std::string& dim : rule->second.dims) {
        const task::DimRange& range = view_.task().dims.at(dim);
        span = {clamped(span.low * std::max<int64_t>(range.low, 0)),
                clamped(span.high * std::max<int64_t>(range.high, 0))};
      }
      return Span{span.low / rule->second.over, span.high / rule->second.over};
    }
    const kernel::Scope& scope = view_.fixed_scope();
    if (const auto value = scope.values.find(name); value != scope.values.end())
      return Span{value->second, value->second};
    const auto let = scope.lets.find(name);
    if (let == scope.lets.end()) return std::nullopt;
    return of(*let->second, let->second->nodes.size() - 1, depth + 1);
  }

  /// Whether a plain dim is always a multiple of the divisor, by the task's range.
  bool divides(const kernel::Expr& expr, const ExprNode& node) const {
    const ExprNode& left = expr.nodes[static_cast<size_t>(node.children[0])];
    const std::optional<Span> by = of(expr, static_cast<size_t>(node.children[1]), 1);
    if (left.op != ExprOp::Name || !by || by->low != by->high || by->low <= 0) return false;
    const auto rule = view_.rules().find(left.name);
    if (rule == view_.rules().end() || rule->second.over != 1) return false;
    Big multiple = rule->second.times;
    for (const std::string& dim : rule->second.dims) {
      const task::DimRange& range = view_.task().dims.at(dim);
      multiple *= range.low == range.high ? range.low : range.multiple;
      if (multiple > kBiggest / (Big{1} << 41)) return false;
    }
    return multiple % by->low == 0;
  }

  static std::optional<Span> logic(ExprOp op, const std::vector<std::optional<Span>>& parts) {
    const bool all = op == ExprOp::And;
    bool decided = true;
    for (const auto& part : parts) {
      const bool is_false = part && part->is(0);
      const bool is_true = part && (part->low > 0 || part->high < 0);
      if (all ? is_false : is_true) return truth(all, !all);
      decided = decided && (all ? is_true : is_false);
    }
    return decided ? truth(!all, all) : truth(true, true);
  }

  static std::optional<Span> apply(ExprOp op, const std::vector<std::optional<Span>>& parts) {
    const Span a = *parts[0];
    const Span b = parts.size() > 1 ? *parts[1] : a;
    switch (op) {
      case ExprOp::Negate:
        return Span{-a.high, -a.low};
      case ExprOp::Not:
        return truth(!a.is(0), a.low <= 0 && a.high >= 0);
      case ExprOp::Add:
        return Span{clamped(a.low + b.low), clamped(a.high + b.high)};
      case ExprOp::Subtract:
        return Span{clamped(a.low - b.high), clamped(a.high - b.low)};
      case ExprOp::Less:
        return truth(a.high >= b.low, a.low < b.high);
      case ExprOp::LessEqual:
        return truth(a.high > b.low, a.low <= b.high);
      case ExprOp::Greater:
        return truth(a.low <= b.high, a.high > b.low);
      case ExprOp::GreaterEqual:
        return truth(a.low < b.high, a.high >= b.low);
      case ExprOp::Equal:
        return truth(!(a.low == a.high && b.is(a.low)), a.low <= b.high && b.low <= a.high);
      case ExprOp::NotEqual:
        return truth(a.low <= b.high && b.low <= a.high, !(a.low == a.high && b.is(a.low)));
      default:
        return arithmetic(op, parts);
    }
  }

  static std::optional<Span> arithmetic(ExprOp op, const std::vector<std::optional<Span>>& parts) {
    const Span a = *parts[0];
    const Span b = parts.size() > 1 ? *parts[1] : a;
    if (op == ExprOp::Min || op == ExprOp::Max || op == ExprOp::Pick) {
      Span span = op == ExprOp::Pick ? b : a;
      for (size_t i = op == ExprOp::Pick ? 2 : 1; i < parts.size(); ++i) {
        const bool least = op == ExprOp::Min || op == ExprOp::Pick;
        const bool most = op == ExprOp::Max || op == ExprOp::Pick;
        span.low = least ? std::min(span.low, parts[i]->low) : std::max(span.low, parts[i]->low);
        span.high =
            most ? std::max(span.high, parts[i]->high) : std::min(span.high, parts[i]->high);
      }
      return span;
    }
    if (a.low < 0 || b.low < 0) return std::nullopt;
    const bool fits = a.high < (Big{1} << 60) && b.high < (Big{1} << 60);
    switch (op) {
      case ExprOp::Multiply:
        if (!fits) return Span{clamped(a.low * std::min(b.low, Big{1} << 40)), kBiggest};
        return Span{a.low * b.low, a.high * b.high};
      case ExprOp::Divide:
        return b.low == 0 ? std::nullopt : std::optional(Span{a.low / b.high, a.high / b.low});
      case ExprOp::CeilDiv:
        if (b.low == 0) return std::nullopt;
        return Span{(a.low + b.high - 1) / b.high, (a.high + b.low - 1) / b.low};
      case ExprOp::Remainder:
        if (b.low == 0) return std::nullopt;
        if (a.low == a.high && b.low == b.high) return Span{a.low % b.low, a.low % b.low};
        return Span{0, std::min(a.high, b.high - 1)};
      default:
        return std::nullopt;
    }
  }

  const PlanView& view_;
};

/// The text of an expression with lets written out, tunables as numbers and factors of 1 left out:
/// two conditions with one text are one condition.
std::string canonical_text(const PlanView& view, const Spans& spans, const kernel::Expr& expr,
                           size_t index, int depth = 0) {
  const ExprNode& node = expr.nodes[index];
  const auto span = spans.of(expr, index);
  if (span && span->is(static_cast<int64_t>(span->low)))
    return fmt::format("{}", static_cast<int64_t>(span->low));
  if (node.op == ExprOp::Name && view.rules().count(node.name) == 0 && depth < kMostNested) {
    const auto& lets = view.fixed_scope().lets;
    if (const auto let = lets.find(node.name); let != lets.end())
      return canonical_text(view, spans, *let->second, let->second->nodes.size() - 1, depth + 1);
  }
  if (node.children.empty()) return node_text(expr, index);
  std::vector<std::string> parts;
  for (const int child : node.children)
    parts.push_back(canonical_text(view, spans, expr, static_cast<size_t>(child), depth));
  if (node.op == ExprOp::Multiply) std::erase(parts, "1");
  if (parts.size() == 1 && node.op == ExprOp::Multiply) return parts.front();
  return fmt::format("op{}*{}({})", static_cast<int>(node.op), node.factor, join(parts, ", "));
}

/// A condition "value % number == 0" holds wherever one with a multiple of the number does, and one
/// with a limit wherever one with a smaller limit does.
struct Condition {
  std::string text;               // of the whole, canonical
  std::string value;              // "" unless it is of one of these two kinds
  int64_t divisor = 0, most = 0;  // one of them

  bool implies(const Condition& other) const {
    if (text == other.text) return true;
    if (value.empty() || value != other.value) return false;
    if (divisor > 0 && other.divisor > 0) return divisor % other.divisor == 0;
    return divisor == 0 && other.divisor == 0 && most <= other.most;
  }
};

Condition condition_of(const PlanView& view, const Spans& spans, const kernel::Expr& expr,
                       size_t index) {
  Condition condition{canonical_text(view, spans, expr, index), "", 0, 0};
  const ExprNode& node = expr.nodes[index];
  const auto child = [&](const ExprNode& of, size_t i) {
    return static_cast<size_t>(of.children[i]);
  };
  const auto number_at = [&](size_t at) -> std::optional<int64_t> {
    const auto span = spans.of(expr, at);
    if (!span || !span->is(span->high) || !span->is(static_cast<int64_t>(span->low)))
      return std::nullopt;
    return static_cast<int64_t>(span->low);
  };
  if (node.op == ExprOp::LessEqual) {
    const auto limit = number_at(child(node, 1));
    if (!limit) return condition;
    condition.value = canonical_text(view, spans, expr, child(node, 0));
    condition.most = *limit;
  }
  if (node.op == ExprOp::Equal && number_at(child(node, 1)) == 0) {
    const ExprNode& left = expr.nodes[child(node, 0)];
    if (left.op != ExprOp::Remainder) return condition;
    const auto divisor = number_at(child(left, 1));
    if (!divisor || *divisor <= 0) return condition;
    condition.value = canonical_text(view, spans, expr, child(left, 0));
    condition.divisor = *divisor;
  }
  return condition;
}

/// The conditions joined by && that are not always true; an optional without a value: never true.
std::optional<std::vector<Condition>> conditions_of(const PlanView& view,
                                                    const kernel::Group& group) {
  std::vector<Condition> conditions;
  if (!group.when) return conditions;
  const kernel::Expr& expr = *group.when;
  const Spans spans(view);
  std::vector<size_t> open = {expr.nodes.size() - 1};
  while (!open.empty()) {
    const size_t index = open.back();
    open.pop_back();
    const ExprNode& node = expr.nodes[index];
    const std::optional<Span> span = spans.of(expr, index);
    if (span && span->is(0)) return std::nullopt;
    if (span && (span->low > 0 || span->high < 0)) continue;
    if (node.op == ExprOp::And) {
      for (const int child : node.children) open.push_back(static_cast<size_t>(child));
    } else {
      conditions.push_back(condition_of(view, spans, expr, index));
    }
  }
  return conditions;
}

/// Combinations of extents, one list per dim; each is asked for its group.
class GroupSearch {
 public:
  GroupSearch(const PlanView& view, std::vector<std::optional<task::Dims>>* found)
      : view_(view), found_(*found), scope_(view.fixed_scope()), costs_(found->size(), 0) {}

  void ask(const task::Dims& dims) {
    double cost = 1;
    for (const auto& [name, extent] : dims)
      cost *= static_cast<double>(std::max<int64_t>(extent, 1));
    if (!view_.enter(dims, &scope_)) return;
    const std::optional<int> group = view_.group_at(scope_);
    if (!group || *group < 0) return;
    const auto at = static_cast<size_t>(*group);
    if (found_[at] && costs_[at] <= cost) return;
    found_[at] = dims;
    costs_[at] = cost;
  }

  void ask_along(task::Dims dims, const std::string& name, const std::vector<int64_t>& list) {
    for (const int64_t extent : list) {
      dims[name] = extent;
      ask(dims);
    }
  }

  void ask_all(const std::vector<std::pair<std::string, std::vector<int64_t>>>& lists) {
    double count = 1;
    for (const auto& [name, list] : lists) count *= static_cast<double>(list.size());
    const auto most = static_cast<double>(kMostCombinations);
    uint64_t state = 1;
    for (size_t i = 0; i < static_cast<size_t>(std::min(count, most)); ++i) {
      // All combinations if there are few, otherwise a fixed pseudo-random choice of them.
      uint64_t rest = i;
      if (count > most) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        rest = state >> 16;
      }
      task::Dims dims;
      for (const auto& [name, list] : lists) {
        dims[name] = list[rest % list.size()];
        rest /= list.size();
      }
      ask(dims);
    }
  }

  /// Makes each extent as small as the group allows, if smaller ones lead elsewhere from a point
  /// on.
  void shrink(size_t group) {
    if (!found_[group]) return;
    for (const auto& [name, range] : view_.task().dims) {
      const int64_t step = range.multiple;
      int64_t low = 0, high = (*found_[group])[name] / step;
      while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        task::Dims dims = *found_[group];
        dims[name] = std::max(middle * step, range.low);
        if (view_.enter(dims, &scope_) && view_.group_at(scope_) == static_cast<int>(group))
          high = middle;
        else
          low = middle + 1;
      }
      task::Dims dims = *found_[group];
      dims[name] = std::max(high * step, range.low);
      if (view_.enter(dims, &scope_) && view_.group_at(scope_) == static_cast<int>(group))
        found_[group] = dims;
    }
  }

 private:
  const PlanView& view_;
  std::vector<std::optional<task::Dims>>& found_;
  kernel::Scope scope_;
  std::vector<double> costs_;
};

void add_extent(int64_t wanted, const task::DimRange& range, std::set<int64_t>* extents) {
  const int64_t step = range.multiple;
  for (const int64_t extent : {wanted / step * step, (wanted / step + 1) * step}) {
    if (extent >= 1 && range.takes(extent)) extents->insert(extent);
    if (step == 1) break;
  }
}

/// Extents of one dim that the guards suggest.
std::vector<int64_t> extents_for(const PlanView& view, const std::vector<Threshold>& thresholds,
                                 const std::vector<task::Dims>& bases, const std::string& dim) {
  const task::DimRange& range = view.task().dims.at(dim);
  std::set<int64_t> extents;
  add_extent(range.low, range, &extents);
  for (const int64_t common : kCommon) add_extent(common, range, &extents);
  for (const int power : {20, 24, 28, 31, 32, 36}) add_extent(int64_t{1} << power, range, &extents);
  for (const task::Dims& base : bases) add_extent(base.at(dim), range, &extents);
  for (const Threshold& threshold : thresholds) {
    for (const task::Dims& base : bases) {
      if (extents.size() >= kMostExtents) break;
      const std::optional<Sides> sides = sides_of(threshold, view, base, dim);
      if (!sides) continue;
      add_extent(sides->first, range, &extents);
      add_extent(sides->second, range, &extents);
    }
    for (const kernel::Expr* side : {&threshold.left, &threshold.right}) {
      for (const ExprNode& node : side->nodes) {
        if (node.op != ExprOp::Number || node.value < 2 || extents.size() >= kMostExtents) continue;
        for (const int64_t near : {node.value - 1, node.value, node.value + 1})
          add_extent(near, range, &extents);
      }
    }
  }
  return {extents.begin(), extents.end()};
}

}  // namespace

std::string why_unreachable(const PlanView& view, int group) {
  if (!view.usable()) return "";
  const auto at = static_cast<size_t>(group);
  const auto own = conditions_of(view, view.module().groups[at]);
  if (!own)
    return "its condition holds at no shape of the task, with these tunables and this target";
  for (size_t before = 0; before < at; ++before) {
    const auto other = conditions_of(view, view.module().groups[before]);
    const auto implied = [&](const Condition& condition) {
      return std::ranges::any_of(*own,
                                 [&](const Condition& one) { return one.implies(condition); });
    };
    if (other && std::ranges::all_of(*other, implied))
      return fmt::format("the group of line {} is chosen wherever its condition holds",
                         view.module().groups[before].line);
  }
  return "";
}

task::Dims small_dims(const task::Task& task) {
  constexpr int64_t kSmall[] = {3, 7, 5, 4, 6, 2};
  task::Dims dims;
  size_t next = 0;
  for (const auto& [name, range] : task.dims) {
    dims[name] = range.nearest(kSmall[next++ % std::size(kSmall)]);
  }
  return dims;
}

double largest_tensor(const task::Task& task, const task::Dims& dims) {
  double most = 0;
  const auto note = [&](const std::vector<int64_t>& shape) {
    double elements = 1;
    for (const int64_t extent : shape) elements *= static_cast<double>(extent);
    most = std::max(most, elements);
  };
  for (const task::TensorSpec& spec : task.inputs) {
    if (const auto shape = task.shape_of(spec, dims)) note(*shape);
  }
  if (const Result<graph::Graph> graph = task.reference->trace(dims)) {
    for (const graph::NamedNode& output : graph->outputs)
      note(graph::values_of((*graph)[output.node].shape));
  }
  return most;
}

std::vector<std::optional<task::Dims>> shapes_of_groups(const PlanView& view,
                                                        const std::vector<Threshold>& thresholds,
                                                        const std::vector<task::Dims>& tried) {
  std::vector<std::optional<task::Dims>> found(view.module().groups.size());
  if (!view.usable()) return found;
  GroupSearch search(view, &found);
  for (const task::Dims& dims : tried) search.ask(dims);
  if (view.task().dims.empty()) return found;
  std::vector<task::Dims> bases = {small_dims(view.task())};
  if (!view.task().benchmark_shapes.empty()) bases.push_back(view.task().benchmark_shapes.front());
  std::vector<std::pair<std::string, std::vector<int64_t>>> lists;
  for (const auto& [name, range] : view.task().dims)
    lists.emplace_back(name, extents_for(view, thresholds, bases, name));
  if (std::ranges::any_of(lists, [](const auto& list) { return list.second.empty(); }))
    return found;
  for (const task::Dims& base : bases) {
    for (const auto& [name, list] : lists) search.ask_along(base, name, list);
  }
  const auto is_open = [](const auto& shape) { return !shape.has_value(); };
  if (std::ranges::any_of(found, is_open)) search.ask_all(lists);
  for (size_t group = 0; group < found.size(); ++group) search.shrink(group);
  return found;
}

}  // namespace kw::shapes
