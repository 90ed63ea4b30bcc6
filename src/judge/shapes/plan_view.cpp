// The problem: a module names its own dims, and only bind_shape() knows their values, at one traced
// shape after another. A search for a shape that selects a launch group needs thousands of values.
// So the rule behind each name is learned from a few traced shapes: a product of the task's dims
// with a constant factor, or a constant. The alternative, solving the declarations for every shape,
// costs a trace of the reference each. The cost: a name with another rule is not understood, and
// the report then says so.
#include "shapes/plan_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "core/text.h"
#include "kernel/bind.h"

namespace kw::shapes {

namespace {

constexpr size_t kMostExamples = 8;

struct Example {
  const task::Dims* dims = nullptr;
  kernel::Bindings bindings;
};

__extension__ using Wide = __int128;

Wide product_at(const std::vector<std::string>& names, const task::Dims& dims) {
  Wide product = 1;
  for (const std::string& name : names) product *= dims.at(name);
  return product;
}

/// The rule value = factor * product of these dims, if one factor explains every example.
std::optional<NameRule> rule_of(const std::vector<std::string>& names,
                                const std::vector<const task::Dims*>& at,
                                const std::vector<int64_t>& values) {
  NameRule rule{1, 1, names};
  const auto first = std::ranges::find_if(
      at, [&](const task::Dims* dims) { return product_at(names, *dims) != 0; });
  if (first == at.end()) return std::nullopt;
  const auto product = static_cast<int64_t>(product_at(names, **first));
  const int64_t value = values[static_cast<size_t>(first - at.begin())];
  const int64_t common = std::max<int64_t>(std::gcd(value, product), 1);
  rule.times = value / common;
  rule.over = product / common;
  for (size_t i = 0; i < at.size(); ++i) {
    if (rule.times * product_at(names, *at[i]) != static_cast<Wide>(rule.over) * values[i])
      return std::nullopt;
  }
  return rule;
}

/// Sets of dims in the order in which they are tried: the one of the same name, single ones,
/// products, none.
std::vector<std::vector<std::string>> sets_to_try(const std::string& name, const task::Task& task) {
  std::vector<std::string> all;
  for (const auto& [dim, range] : task.dims) all.push_back(dim);
  std::vector<std::vector<std::string>> sets;
  if (task.dims.count(name) != 0) sets.push_back({name});
  for (const std::string& dim : all) sets.push_back({dim});
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t k = i + 1; k < all.size(); ++k) {
      sets.push_back({all[i], all[k]});
      for (size_t m = k + 1; m < all.size(); ++m) sets.push_back({all[i], all[k], all[m]});
    }
  }
  if (all.size() > 3) sets.push_back(all);
  sets.push_back({});
  return sets;
}

/// Simple factors first: a constant factor of 3/7 is a coincidence of few examples.
std::optional<NameRule> learn(const std::string& name, const task::Task& task,
                              const std::vector<const task::Dims*>& at,
                              const std::vector<int64_t>& values) {
  const auto sets = sets_to_try(name, task);
  for (const bool plain : {true, false}) {
    for (const std::vector<std::string>& set : sets) {
      const std::optional<NameRule> rule = rule_of(set, at, values);
      if (!rule || (rule->times != 1 && rule->over != 1)) continue;
      if (!plain || set.empty() || (rule->times == 1 && rule->over == 1)) return rule;
    }
  }
  return std::nullopt;
}

}  // namespace

PlanView::PlanView(const kernel::Module& module, const Matching& matching, const task::Task& task,
                   const kernel::Bindings& fixed, const std::vector<const ShapeCase*>& known)
    : module_(module), task_(task) {
  std::vector<Example> examples;
  for (const ShapeCase* shape : known) {
    if (examples.size() == kMostExamples) break;
    const auto same = [&](const Example& one) { return *one.dims == shape->dims; };
    if (std::ranges::any_of(examples, same)) continue;
    auto bound = bind_shape(module, matching, task, shape->graph, shape->dims, fixed);
    if (bound) examples.push_back({&shape->dims, std::move(bound).value()});
  }
  if (examples.empty()) return;
  const kernel::Bindings& first = examples.front().bindings;
  const auto tunes = kernel::resolve_tunes(module, first.tunes);
  if (!tunes) return;
  scope_ = kernel::make_scope(module, first, *tunes);
  std::vector<const task::Dims*> at;
  for (const Example& one : examples) at.push_back(one.dims);
  const auto add = [&](const std::string& name, auto member) {
    std::vector<int64_t> values;
    for (const Example& one : examples) {
      const auto found = (one.bindings.*member).find(name);
      if (found != (one.bindings.*member).end()) values.push_back(found->second);
    }
    const auto rule = values.size() == examples.size() ? learn(name, task, at, values)
                                                       : std::optional<NameRule>();
    if (rule)
      rules_[name] = *rule;
    else
      unknown_.push_back(name);
  };
  for (const auto& [name, value] : first.dims) add(name, &kernel::Bindings::dims);
  for (const auto& [name, value] : first.integer_scalars)
    add(name, &kernel::Bindings::integer_scalars);
}

bool PlanView::enter(const task::Dims& dims, kernel::Scope* scope) const {
  for (const auto& [name, rule] : rules_) {
    Wide value = rule.times;
    for (const std::string& dim : rule.dims) {
      value *= dims.at(dim);
      if (value > kernel::kMaxDim * static_cast<Wide>(rule.over)) return false;
    }
    scope->values[name] = static_cast<int64_t>(value / rule.over);
  }
  scope->known_lets.clear();
  return true;
}

std::optional<int> PlanView::group_at(const kernel::Scope& scope) const {
  for (size_t i = 0; i < module_.groups.size(); ++i) {
    const kernel::Group& group = module_.groups[i];
    if (!group.when) return static_cast<int>(i);
    const Result<int64_t> holds = kernel::evaluate(*group.when, scope);
    if (!holds) return std::nullopt;
    if (*holds != 0) return static_cast<int>(i);
  }
  return -1;
}

std::optional<int> PlanView::group_at(const task::Dims& dims) const {
  if (!usable()) return std::nullopt;
  kernel::Scope scope = *scope_;
  if (!enter(dims, &scope)) return std::nullopt;
  return group_at(scope);
}

std::string PlanView::variant_at(const task::Dims& dims) const {
  if (!usable()) return "";
  kernel::Scope scope = *scope_;
  if (!enter(dims, &scope)) return "";
  const std::optional<int> group = group_at(scope);
  if (!group || *group < 0) return "";
  const auto kernels =
      kernel::kernels_of(module_, module_.groups[static_cast<size_t>(*group)], scope);
  return kernels ? fmt::format("{}: {}", *group, join(*kernels, "; ")) : "";
}

}  // namespace kw::shapes
