// The flat convention: reference(A, B, C, M, N, K) gets one-dimensional buffers and ints, and
// writes its results in place or returns them. Extents are not written anywhere; they are found by
// trying.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "frontend/make_task.h"
#include "task_formats/load.h"

namespace kw::task_formats {

/// Asks for the numbers among these parameters, which the launcher knows and nobody gave a value.
Status check_numbers(const frontend::TaskDraft& draft, const std::vector<std::string>& parameters,
                     const LauncherParameters& launcher);

/// `tensors`: the parameters that are no dims. Their lengths are products of dims: of the two
/// largest where that works, else the smallest with which the reference runs.
/// `launcher` may know their dtypes.
Result<task::Task> load_flat(frontend::TaskDraft draft, const std::vector<std::string>& tensors,
                             const LauncherParameters& launcher = {});

}  // namespace kw::task_formats
