// Removing old runs. What a process holds is never touched; what is being removed is moved aside
// first, so that a run is there whole or not at all.
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
  std::optional<double> older_than_seconds;  // by the time of creation
  std::optional<int64_t> budget_bytes;       // oldest first, until the rest fits
  int64_t keep = 0;                          // of the newest, whatever else is said
  bool remove = false;                       // false: only say what would be
};

struct GcItem {
  RunRow run;
  std::string why;      // "41 days old", "over the budget"
  std::string problem;  // why it is still there although it was to be removed; "" when it is gone
};

struct GcReport {
  std::vector<GcItem> items;    // oldest first
  int64_t runs = 0, bytes = 0;  // before
  int64_t freed = 0;            // or would be
  /// Items that are gone, or would be.
  int64_t removable() const;
};

Result<GcReport> collect_garbage(const GcRequest& request);

}  // namespace kw::store
