// What became better or worse since an earlier evaluation. A number counts as changed only when it
// moved by more than the noise of both measurements.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "suites/row.h"

namespace kw::suites {

enum class ChangeKind : uint8_t {
  PassToFail,   // a regression
  SpeedupDrop,  // a regression
  FloorDrop,    // a regression: where there is no baseline, the distance to the floor
  FailToPass,
  SpeedupGain,
  FloorGain,
  Missing,  // was there before, was not run now; no verdict
  New,
};

struct Change {
  std::string kernel;
  ChangeKind kind = ChangeKind::New;
  double before = 0, after = 0;  // of drops and gains
  double band = 0;               // the relative change noise could make

  bool regression() const;
  /// "pass_to_fail", "speedup_drop:1.2->1.1", as the column `regression` has it.
  std::string text() const;
};

/// In the order of `after`, then those missing there.
std::vector<Change> changes_between(std::span<const Row> before, std::span<const Row> after);

/// Relative: both rows' own intervals where they are known, and never less than a floor of noise.
double noise_band(const Row& before, const Row& after);

Json to_json(const Change& change);

}  // namespace kw::suites
