// Removes old runs. A run that a process holds is never touched. A run is moved aside before it is
// deleted, so it is either complete or deleted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "store/index.h"

namespace kw::store {

struct GcRequest {
  std::string root;
  std::optional<double> older_than_seconds;  // since creation
  std::optional<int64_t> budget_bytes;       // remove the oldest first until the rest fits
  int64_t keep = 0;                          // number of newest runs that always stay
  bool remove = false;                       // false: only report what would be removed
};

struct GcItem {
  RunRow run;
  std::string why;      // "41 days old", "over the budget"
  std::string problem;  // why it could not be removed; "" when it was removed
};

struct GcReport {
  std::vector<GcItem> items;    // oldest first
  int64_t runs = 0, bytes = 0;  // before
  int64_t freed = 0;            // or would be freed
  /// The number of items that were removed, or would be.
  int64_t removable() const;
};

Result<GcReport> collect_garbage(const GcRequest& request);

}  // namespace kw::store
