#include "profile/ncu_stalls.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "catalog/metric.h"
#include "core/contains.h"

namespace kw::profile {
namespace {

struct StallForm {
  std::string_view begin, end;
};

constexpr StallForm kPerIssue[] = {
    {"smsp__average_warps_issue_stalled_", "_per_issue_active.ratio"},
    {"smsp__average_warp_latency_issue_stalled_", ".ratio"},
};
constexpr StallForm kSamples[] = {{"smsp__pcsamp_warps_issue_stalled_", ""}};
constexpr std::array<std::string_view, 2> kLatencies = {
    "smsp__average_warps_active_per_issue_active.ratio",
    "smsp__average_warp_latency_per_inst_issued.ratio"};

/// The stall reason that a column counts, or "". Columns for warps that could not issue count the
/// same stalls again and are skipped.
template <size_t N>
std::string reason_in(const StallForm (&forms)[N], std::string_view column) {
  for (const StallForm& form : forms) {
    if (!column.starts_with(form.begin) || !column.ends_with(form.end)) continue;
    const std::string_view reason =
        column.substr(form.begin.size(), column.size() - form.begin.size() - form.end.size());
    const bool plain = reason.find('.') == std::string_view::npos &&
                       !reason.ends_with("_not_issued") && !reason.empty();
    if (!plain) continue;
    // Newer ncu versions use this word for the same reason.
    return reason == "branch_resolving" ? "branch_resolve" : std::string(reason);
  }
  return "";
}

}  // namespace

bool StallReader::accepts(std::string_view column) const {
  return !reason_in(kPerIssue, column).empty() || !reason_in(kSamples, column).empty() ||
         contains(kLatencies, column);
}

void StallReader::add(std::string_view column, double value) {
  if (contains(kLatencies, column)) {
    latency_ = std::max(latency_, value);
  } else if (const std::string reason = reason_in(kPerIssue, column); !reason.empty()) {
    per_issue_.reasons[reason] = value;
  } else if (const std::string sampled = reason_in(kSamples, column); !sampled.empty()) {
    samples_.reasons[sampled] = value;
  }
}

std::map<std::string, Known> StallReader::shares() const {
  std::map<std::string, Known> found;
  const auto write = [&](const Form& form, double whole, const char* from) {
    if (!(whole > 0) || !found.empty()) return;
    for (const auto& [reason, value] : form.reasons) {
      const std::string id = "stall_" + reason + "_pct";
      if (catalog::find_metric(id) == nullptr) continue;
      found[id] = {std::clamp(100 * value / whole, 0.0, 100.0), MetricSource::Ncu, from};
    }
  };
  // "selected" is not a stall. If it is present, all reasons are present.
  const auto whole_of = [](const Form& form) {
    double sum = 0;
    for (const auto& [reason, value] : form.reasons) sum += value;
    return form.reasons.count("selected") > 0 ? sum : 0.0;
  };
  write(per_issue_, latency_ > 0 ? latency_ : whole_of(per_issue_),
        "stalls per issue, of the time a warp is resident");
  write(samples_, whole_of(samples_), "samples, of all");
  return found;
}

}  // namespace kw::profile
