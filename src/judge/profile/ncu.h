// Reads the output of Nsight Compute as the metrics of one kernel. Reads text only; other code
// starts the profiler.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "profile/metric_set.h"

namespace kw::profile {

/// Whether a log says that the user may not read hardware counters.
bool counters_forbidden(std::string_view log);
/// What the user can do about it.
std::string counters_forbidden_advice();

/// Reads the text of `ncu --csv`, either `--page raw` (one column per metric, a row of units) or
/// the details page (one row per metric). Accepts newer and older headers and numbers of any
/// locale. Log lines before and after the table are skipped.
///   `kernel`  the kernel to read, with or without template arguments; "" if the file has only one
///   `log`     the file's name, for Errors
/// Several launches of the kernel are averaged, shares by time. Blame::Input: no table, no such
/// kernel, several kernels that match, or an unknown unit. Blame::Environment: counters forbidden,
/// nothing profiled, or every counter zero.
Result<MetricSet> import_ncu(std::string_view text, const std::string& kernel,
                             const std::string& log);

/// Whether a profiler's name ("void rms_norm<(int)256>(const __half *, int)") names the kernel
/// asked for.
bool same_kernel(std::string_view profiled, std::string_view asked);

}  // namespace kw::profile
