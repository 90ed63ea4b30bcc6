#include "profile/trigger.h"

#include <fmt/core.h>

#include <algorithm>

#include "catalog/metric.h"
#include "core/contains.h"

namespace kw::profile {
namespace {

using catalog::Expression;
using ExprKind = Expression::Kind;
using Value = std::optional<double>;

class Evaluator {
 public:
  Evaluator(const MetricSet& metrics, Strength& out) : metrics_(metrics), out_(out) {}

  Value evaluate(const Expression& e) {
    switch (e.kind) {
      case ExprKind::Not: {
        const Value inner = evaluate(e.parts.front());
        return inner ? Value(1 - *inner) : inner;
      }
      case ExprKind::And:
        return combine(e, 0, [](double a, double b) { return std::min(a, b); });
      case ExprKind::Or:
        return combine(e, 1, [](double a, double b) { return std::max(a, b); });
      default:
        return clause(e);
    }
  }

 private:
  // One part equal to `decisive` decides the result. Otherwise an unknown part makes it unknown. An
  // 'or' with a known positive part is known, because more evidence can only raise it.
  template <typename Pick>
  Value combine(const Expression& e, double decisive, Pick pick) {
    Value known;
    bool open = false;
    for (const Expression& part : e.parts) {
      const Value value = evaluate(part);
      open = open || !value;
      if (value) known = known ? pick(*known, *value) : *value;
    }
    if (!open || (known && *known == decisive)) return known;
    return e.kind == ExprKind::Or && known && *known > 0 ? known : Value();
  }

  Value clause(const Expression& e) {
    const auto value = metrics_.get(e.metric);
    if (!value) {
      if (!contains(out_.missing, e.metric)) out_.missing.push_back(e.metric);
      return std::nullopt;
    }
    const double strength = clause_strength(e, *value);
    std::string reason = e.metric + " " + value_text(e.metric, *value);
    if (e.kind != ExprKind::Flag) {
      const std::string text = catalog::to_text(e);
      reason += fmt::format(" ({}): {:.2f}", text.substr(e.metric.size() + 1), strength);
    }
    out_.reasons.push_back(reason);
    return strength;
  }

  static double clause_strength(const Expression& e, double value) {
    if (e.kind == ExprKind::Flag) return value > 0 ? 1 : 0;
    const bool below = e.kind == ExprKind::Below;
    if (!e.worst) return (below ? value < e.good : value > e.good) ? 1 : 0;
    return std::clamp((value - e.good) / (*e.worst - e.good), 0.0, 1.0);
  }

  const MetricSet& metrics_;
  Strength& out_;
};

std::string scaled(double value, double step, const std::vector<const char*>& units) {
  size_t unit = 0;
  while (value >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, units[unit]);
}

}  // namespace

Strength strength_of(const Expression& condition, const MetricSet& metrics) {
  Strength found;
  found.value = Evaluator(metrics, found).evaluate(condition);
  return found;
}

std::string value_text(const std::string& metric, double value) {
  const catalog::Metric* row = catalog::find_metric(metric);
  switch (row == nullptr ? catalog::Unit::Ratio : row->unit) {
    case catalog::Unit::Flag:
      return value > 0 ? "yes" : "no";
    case catalog::Unit::Percent:
      return fmt::format("{:.1f} %", value);
    case catalog::Unit::Microseconds:
      return fmt::format("{:.4g} us", value);
    case catalog::Unit::Bytes:
      return scaled(value, 1000, {"B", "kB", "MB", "GB", "TB"});
    default:
      return fmt::format("{:.4g}", value);
  }
}

}  // namespace kw::profile
