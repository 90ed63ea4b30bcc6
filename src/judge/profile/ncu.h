// What Nsight Compute printed, as metrics of one kernel. Reads text only; the profiler is started
// elsewhere.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "profile/metric_set.h"

namespace kw::profile {

/// Whether a log says that this user may not read hardware counters.
bool counters_forbidden(std::string_view log);
/// What to do about it, in words.
std::string counters_forbidden_advice();

/// The text of `ncu --csv` with `--page raw` (one column per metric, a row of units) or of the
/// details page (one row per metric), newer and older headers, numbers of any locale. Lines of the
/// log before and behind the table are passed over.
///   `kernel`  whose rows count: a name ("rms_norm"), with template arguments or not; "" when the
///   file has only one `log`     what the file is called, for Errors
/// Several launches of the kernel are averaged, shares by time. Errors: no table, no such kernel or
/// several that fit, a unit nobody knows (Blame::Input); counters forbidden, nothing profiled,
/// every counter zero (Blame::Environment).
Result<MetricSet> import_ncu(std::string_view text, const std::string& kernel,
                             const std::string& log);

/// Whether a profiler's name of a kernel ("void rms_norm<(int)256>(const __half *, int)") is the
/// one asked for.
bool same_kernel(std::string_view profiled, std::string_view asked);

}  // namespace kw::profile
