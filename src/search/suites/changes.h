// What became better or worse since an earlier evaluation. A number counts as changed only if it
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
  FloorDrop,    // a regression: distance to the floor, without a baseline
  FailToPass,
  SpeedupGain,
  FloorGain,
  Missing,  // had a row before, was not run now; not a verdict
  New,
};

struct Change {
  std::string kernel;
  ChangeKind kind = ChangeKind::New;
  double before = 0, after = 0;  // for drops and gains
  double band = 0;               // the relative change that noise can make

  bool regression() const;
  /// "pass_to_fail", "speedup_drop:1.2->1.1", as in the column `regression`.
  std::string text() const;
};

/// In the order of `after`, then those that are missing there.
std::vector<Change> changes_between(std::span<const TaskRow> before,
                                    std::span<const TaskRow> after);

/// Relative: from the intervals of both rows if known, and never below a minimum.
double noise_band(const TaskRow& before, const TaskRow& after);

Json to_json(const Change& change);

}  // namespace kw::suites
