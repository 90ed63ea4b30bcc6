#include "profile/profile_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "catalog/metric.h"
#include "core/text.h"
#include "profile/trigger.h"

namespace kw::profile {
namespace {

constexpr size_t kMostMissing = 10;  // missing metrics shown at most

std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "unknown";
}

std::string time_text(const std::optional<double>& us) {
  return us ? fmt::format("{:.4g} us", *us) : "unknown";
}

std::string flags_text(const MetricSet& metrics, MetricSource source) {
  std::vector<std::string> yes, no;
  for (const auto& [id, known] : metrics.all()) {
    if (known.source != source || catalog::find_metric(id)->unit != catalog::Unit::Flag) continue;
    (known.value > 0 ? yes : no).push_back(id);
  }
  std::string out;
  if (!yes.empty()) out += "    yes: " + join(yes, ", ") + "\n";
  if (!no.empty()) out += "    no: " + join(no, ", ") + "\n";
  return out;
}

std::string numbers_text(const MetricSet& metrics, MetricSource source) {
  std::string out;
  for (const auto& [id, known] : metrics.all()) {
    const catalog::Metric* metric = catalog::find_metric(id);
    if (known.source != source || metric->unit == catalog::Unit::Flag) continue;
    out += fmt::format("    {:<28}{:>12}  {}\n", id, value_text(id, known.value), metric->title);
  }
  return out;
}

std::string chosen_text(const Plan& plan, const Judged& chosen) {
  const catalog::Method& method = *chosen.method;
  std::string out =
      fmt::format("  {}  (P{}, strength {:.2f}, score {:.2f})\n    {}\n    because: {}\n",
                  method.id, method.priority, chosen.strength.value_or(0), chosen.score,
                  method.title, join(chosen.evidence, ", "));
  if (!method.sanitizer.empty()) out += "    check with: " + join(method.sanitizer, ", ") + "\n";
  const std::vector<const Judged*> higher = plan.skipped_higher(chosen);
  if (!higher.empty()) out += "    before it on this axis:\n";
  for (const Judged* one : higher)
    out += fmt::format("      {} (P{}): {}\n", one->method->id, one->method->priority, one->why);
  return out;
}

}  // namespace

std::string metrics_text(const MetricSet& metrics) {
  const std::string kernel = metrics.kernel.empty() ? "" : " of " + metrics.kernel;
  std::string out = "metrics" + kernel + "\n";
  constexpr std::pair<MetricSource, const char*> kGroups[] = {
      {MetricSource::Ncu, "hardware counters (ncu)"},
      {MetricSource::Vgpu, "counted on the virtual GPU (vgpu)"},
      {MetricSource::Static, "known without running (static)"}};
  for (const auto& [source, title] : kGroups) {
    const std::string body = numbers_text(metrics, source) + flags_text(metrics, source);
    if (!body.empty()) out += fmt::format("  {}\n{}", title, body);
  }
  if (metrics.all().empty()) out += "  nothing is known\n";
  for (const std::string& note : metrics.notes) out += "  note: " + note + "\n";
  return out;
}

std::string roofline_text(const Roofline& r) {
  std::string out =
      fmt::format("roofline{}\n", r.estimated ? " (an estimate: nothing was timed)" : "");
  out += fmt::format("  time {}, floor {}", time_text(r.time_us), time_text(r.floor_us));
  if (r.time_us && r.floor_us && *r.time_us > 0)
    out += fmt::format(": {:.0f} % of what is possible", 100 * *r.floor_us / *r.time_us);
  out += fmt::format("\n  bottleneck: {}{}\n", bottleneck_name(r.bottleneck),
                     r.near_peak ? ", near the peak: no further speedup is expected" : "");
  out += fmt::format("  {:<10}{:>10}{:>10}\n", "axis", "gap", "methods");
  out += fmt::format("  {:<10}{:>10}{:>10}\n", "compute", share_text(r.gaps.compute),
                     r.budget.compute);
  out +=
      fmt::format("  {:<10}{:>10}{:>10}\n", "memory", share_text(r.gaps.memory), r.budget.memory);
  out += fmt::format("  {:<10}{:>10}{:>10}\n", "latency", share_text(r.gaps.latency),
                     r.budget.latency);
  for (const std::string& reason : r.reasons) out += "  - " + reason + "\n";
  return out;
}

std::string plan_text(const Plan& plan) {
  std::string out = plan.chosen.empty() ? "nothing to try\n" : "to try\n";
  for (const Judged* chosen : plan.chosen) out += chosen_text(plan, *chosen);
  std::map<std::string, int> missing;
  int undecided = 0;
  for (const Judged& judged : plan.methods) {
    if (judged.status != MethodStatus::InsufficientEvidence) continue;
    ++undecided;
    for (const std::string& id : judged.missing) ++missing[id];
  }
  if (undecided == 0) return out;
  std::vector<std::pair<std::string, int>> most(missing.begin(), missing.end());
  std::stable_sort(most.begin(), most.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(most.size(), kMostMissing); ++i)
    names.push_back(fmt::format("{} ({})", most[i].first, most[i].second));
  if (most.size() > kMostMissing)
    names.push_back(fmt::format("{} more", most.size() - kMostMissing));
  return out + fmt::format("{} method{} could not be decided; not measured: {}\n", undecided,
                           undecided == 1 ? "" : "s", join(names, ", "));
}

}  // namespace kw::profile
