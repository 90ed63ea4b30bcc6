// Tunables form a search space that `where` conditions restrict. Each condition is evaluated as
// soon as its last tunable has a value. So a space of millions with few members is searched
// quickly. A budget limits the search, whatever the conditions are.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <set>

#include "core/contains.h"
#include "core/text.h"
#include "kernel/bind.h"

namespace kw::kernel {

namespace {

constexpr int64_t kBudget = 3'000'000;  // evaluated nodes of conditions: a fraction of a second

class TuneWalk {
 public:
  /// `found` receives each assignment and returns whether to continue.
  TuneWalk(const Module& module, const std::map<std::string, int64_t>& fixed,
           std::function<bool(const std::map<std::string, int64_t>&)> found)
      : module_(module), fixed_(fixed), found_(std::move(found)) {
    for (const LetDecl& let : module.lets) scope_.lets[let.name] = &let.value;
    conditions_.resize(module.tunes.size());
    for (const TuneDecl& tune : module.tunes) {
      if (tune.where) conditions_[last_needed(*tune.where)].push_back(&*tune.where);
    }
  }

  void run() { descend(0); }
  bool exhausted() const { return spent_ >= kBudget; }
  const std::optional<Error>& failure() const { return failure_; }

 private:
  size_t last_needed(const Expr& where) const {
    std::set<std::string> names;
    collect(where, names);
    size_t last = 0;
    for (size_t i = 0; i < module_.tunes.size(); ++i) {
      if (names.count(module_.tunes[i].name) != 0) last = i;
    }
    return last;
  }

  void collect(const Expr& expr, std::set<std::string>& names) const {
    for (const ExprNode& node : expr.nodes) {
      if (node.op != ExprOp::Name || !names.insert(node.name).second) continue;
      if (const LetDecl* let = module_.find_let(node.name)) collect(let->value, names);
    }
  }

  // The depth is the number of tunables, which the number of plan lines limits.
  bool descend(size_t index) {
    if (index == module_.tunes.size()) return found_(scope_.values);
    const TuneDecl& tune = module_.tunes[index];
    const auto fixed = fixed_.find(tune.name);
    for (const int64_t value : tune.values) {
      if (fixed != fixed_.end() && fixed->second != value) continue;
      if (spent_ >= kBudget) return false;
      scope_.values[tune.name] = value;
      const bool go_on = !holds(index) || descend(index + 1);
      scope_.values.erase(tune.name);
      if (!go_on) return false;
    }
    return true;
  }

  bool holds(size_t index) {
    scope_.known_lets.clear();
    ++spent_;
    for (const Expr* where : conditions_[index])
      spent_ += static_cast<int64_t>(where->nodes.size());
    return std::ranges::all_of(conditions_[index], [&](const Expr* where) {
      Result<int64_t> value = evaluate(*where, scope_);
      if (!value && !failure_) failure_ = value.error();
      return value && *value != 0;
    });
  }

  const Module& module_;
  const std::map<std::string, int64_t>& fixed_;
  std::function<bool(const std::map<std::string, int64_t>&)> found_;
  Scope scope_;
  std::vector<std::vector<const Expr*>> conditions_;  // by the last tunable they need
  std::optional<Error> failure_;
  int64_t spent_ = 0;
};

std::string list_values(const TuneDecl& tune) {
  std::vector<std::string> values;
  for (const int64_t value : tune.values) values.push_back(std::to_string(value));
  return join(values, ", ");
}

}  // namespace

Result<std::map<std::string, int64_t>> resolve_tunes(const Module& module,
                                                     const std::map<std::string, int64_t>& given) {
  std::vector<std::string> names, shown;
  for (const TuneDecl& tune : module.tunes) names.push_back(tune.name);
  for (const auto& [name, value] : given) {
    const TuneDecl* tune = module.find_tune(name);
    if (tune == nullptr) {
      return input_error("the module has no tunable '{}'{}; its tunables are: {}", name,
                         did_you_mean(name, names), names.empty() ? "none" : join(names, ", "));
    }
    if (!contains(tune->values, value)) {
      return input_error("tunable {} = {} is not among its values: {}", name, value,
                         list_values(*tune));
    }
    shown.push_back(fmt::format("{} = {}", name, value));
  }
  std::optional<std::map<std::string, int64_t>> first;
  TuneWalk walk(module, given, [&](const auto& assignment) {
    first = assignment;
    return false;
  });
  walk.run();
  if (first) return *first;
  const std::string with = shown.empty() ? "" : " with " + join(shown, ", ");
  if (walk.failure()) return *walk.failure();
  if (walk.exhausted()) {
    return input_error("found no values of the tunables that satisfy every 'where'" + with +
                       "; the search was given up");
  }
  return input_error("no values of the tunables satisfy every 'where'" + with);
}

std::vector<std::map<std::string, int64_t>> tune_space(const Module& module, size_t limit) {
  std::vector<std::map<std::string, int64_t>> out;
  if (limit == 0) return out;
  const std::map<std::string, int64_t> nothing_fixed;
  TuneWalk(module, nothing_fixed, [&](const auto& assignment) {
    out.push_back(assignment);
    return out.size() < limit;
  }).run();
  return out;
}

}  // namespace kw::kernel
