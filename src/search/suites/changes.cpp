#include "suites/changes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace kw::suites {

namespace {

// Two sessions on one GPU differ by this much without a change: clock rates, temperature,
// addresses.
constexpr double kLeastBand = 0.02;
// For a row without an interval (a table of another program, one worker): what such clocks can
// repeat.
constexpr double kUnknownBand = 0.05;

struct KindRow {
  ChangeKind kind;
  const char* name;
  bool regression;
  bool numbers;
};
constexpr KindRow kKinds[] = {
    {ChangeKind::PassToFail, "pass_to_fail", true, false},
    {ChangeKind::SpeedupDrop, "speedup_drop", true, true},
    {ChangeKind::FloorDrop, "floor_drop", true, true},
    {ChangeKind::FailToPass, "fail_to_pass", false, false},
    {ChangeKind::SpeedupGain, "speedup_gain", false, true},
    {ChangeKind::FloorGain, "floor_gain", false, true},
    {ChangeKind::Missing, "missing", false, false},
    {ChangeKind::New, "new", false, false},
};

const KindRow& kind_row(ChangeKind kind) {
  return *std::ranges::find(kKinds, kind, &KindRow::kind);
}

/// The speedup over the best baseline. A table without that column uses the compiled baseline.
std::optional<double> speedup_of(const TaskRow& row) {
  const std::optional<double>& speedup = row.speedup ? row.speedup : row.speedup_vs_torch_compile;
  return speedup && *speedup > 0 ? speedup : std::nullopt;
}

/// Half the interval relative to the speedup, as the 95 % half-width of a normal distribution.
double half_width(const TaskRow& row) {
  const std::optional<double> speedup = speedup_of(row);
  if (!speedup || !row.speedup_low || !row.speedup_high) return kUnknownBand;
  return std::max(0.0, (*row.speedup_high - *row.speedup_low) / (2 * *speedup));
}

/// A change beyond the noise; otherwise not set.
std::optional<Change> moved(const std::string& kernel, double before, double after, double band,
                            ChangeKind drop, ChangeKind gain) {
  if (after < before * (1 - band)) return Change{kernel, drop, before, after, band};
  if (after > before * (1 + band)) return Change{kernel, gain, before, after, band};
  return std::nullopt;
}

std::optional<Change> change_of(const TaskRow& before, const TaskRow& after) {
  if (before.passed && !after.passed) return Change{after.kernel, ChangeKind::PassToFail, 0, 0, 0};
  if (!before.passed && after.passed) return Change{after.kernel, ChangeKind::FailToPass, 0, 0, 0};
  if (!after.passed || (!before.shape.empty() && before.shape != after.shape)) return std::nullopt;
  const double band = noise_band(before, after);
  const std::optional<double> was = speedup_of(before), is = speedup_of(after);
  if (was && is)
    return moved(after.kernel, *was, *is, band, ChangeKind::SpeedupDrop, ChangeKind::SpeedupGain);
  const bool comparable = before.measured == after.measured && before.device == after.device;
  if (!comparable || !before.of_floor || !after.of_floor) return std::nullopt;
  return moved(after.kernel, *before.of_floor, *after.of_floor, band, ChangeKind::FloorDrop,
               ChangeKind::FloorGain);
}

}  // namespace

bool Change::regression() const { return kind_row(kind).regression; }

std::string Change::text() const {
  const KindRow& row = kind_row(kind);
  return row.numbers ? fmt::format("{}:{:.4g}->{:.4g}", row.name, before, after) : row.name;
}

double noise_band(const TaskRow& before, const TaskRow& after) {
  if (!before.measured && !after.measured && !speedup_of(before) && !speedup_of(after))
    return kLeastBand;  // estimates are computed: they do not vary
  const double a = half_width(before), b = half_width(after);
  // Not std::hypot, whose symbol needs GLIBC 2.35.
  return std::max(kLeastBand, std::sqrt(a * a + b * b));
}

std::vector<Change> changes_between(std::span<const TaskRow> before,
                                    std::span<const TaskRow> after) {
  std::vector<Change> changes;
  for (const TaskRow& row : after) {
    const auto was = std::ranges::find(before, row.kernel, &TaskRow::kernel);
    if (was == before.end()) {
      changes.push_back({row.kernel, ChangeKind::New, 0, 0, 0});
    } else if (const std::optional<Change> change = change_of(*was, row)) {
      changes.push_back(*change);
    }
  }
  for (const TaskRow& row : before) {
    if (std::ranges::find(after, row.kernel, &TaskRow::kernel) == after.end())
      changes.push_back({row.kernel, ChangeKind::Missing, 0, 0, 0});
  }
  return changes;
}

Json to_json(const Change& change) {
  const KindRow& row = kind_row(change.kind);
  Json json = Json::object();
  json.set("kernel", change.kernel).set("change", row.name).set("regression", row.regression);
  if (row.numbers)
    json.set("before", change.before).set("after", change.after).set("band", change.band);
  return json;
}

}  // namespace kw::suites
