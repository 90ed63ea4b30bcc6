#include "plan/groups.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "core/contains.h"
#include "emit/emit.h"
#include "kernel/expr.h"
#include "kernel/parse_expr.h"

namespace kw::generate {

namespace {

constexpr int64_t kSomeSms = 132;

/// Evaluates plan conditions at one shape, with the first value of every tunable.
class Holds {
 public:
  Holds(const Sequence& sequence, const task::Dims& at) {
    scope_.values.insert(at.begin(), at.end());
    scope_.values["SMS"] = kSomeSms;
    for (const auto& [name, text] : sequence.program->lets) add_let(name, text);
    for (const Kernel& kernel : sequence.kernels) {
      for (const Tune& tune : kernel.tunes) scope_.values[tune.name] = tune.values.front();
      for (const auto& [name, text] : kernel.lets) add_let(name, text);
    }
    for (const auto& [name, expr] : exprs_) scope_.lets[name] = &expr;
  }

  /// A condition that cannot be evaluated counts as true.
  bool operator()(const std::string& condition) const {
    if (condition.empty()) return true;
    const auto expr = kernel::parse_expression(condition);
    if (!expr) return true;
    const Result<int64_t> value = kernel::evaluate(*expr, scope_);
    return !value || *value != 0;
  }

 private:
  void add_let(const std::string& name, const std::string& text) {
    if (auto expr = kernel::parse_expression(text)) exprs_.insert_or_assign(name, std::move(*expr));
  }

  kernel::Scope scope_;
  std::map<std::string, kernel::Expr> exprs_;
};

std::optional<VariantChoice> fastest_at(const Sequence& sequence,
                                        const std::vector<task::Dims>& shapes) {
  for (const task::Dims& shape : shapes) {
    const Holds holds(sequence, shape);
    if (!holds(all_of(sequence.program->guards))) continue;
    VariantChoice choice;
    for (const Kernel& kernel : sequence.kernels) {
      const auto first = std::ranges::find_if(kernel.variants,
                                              [&](const Variant& one) { return holds(one.when); });
      choice.push_back(static_cast<size_t>(first - kernel.variants.begin()));
    }
    return choice;
  }
  return std::nullopt;
}

}  // namespace

std::vector<VariantChoice> launch_groups(const Sequence& sequence,
                                         const std::vector<task::Dims>& shapes) {
  size_t levels = 1;
  for (const Kernel& kernel : sequence.kernels) levels = std::max(levels, kernel.variants.size());
  std::vector<VariantChoice> groups;
  const auto add = [&](const VariantChoice& choice) {
    if (!contains(groups, choice)) groups.push_back(choice);
  };
  for (size_t level = 0; level < levels; ++level) {
    VariantChoice choice;
    for (const Kernel& kernel : sequence.kernels) {
      choice.push_back(std::min(level, kernel.variants.size() - 1));
    }
    add(choice);
    if (level > 0 || sequence.kernels.size() == 1) continue;
    if (const auto fastest = fastest_at(sequence, shapes)) add(*fastest);
  }
  return groups;
}

}  // namespace kw::generate
