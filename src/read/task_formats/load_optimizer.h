// Loads the flat convention: reference(A, B, C, M, N, K) gets one-dimensional buffers and ints, and
// writes its results in place or returns them. The loader finds the extents by trying.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "frontend/make_task.h"
#include "task_formats/load.h"

namespace kw::task_formats {

/// An Error that lists the numbers among these parameters that the launcher has and the user gave
/// no value for.
Status check_numbers(const frontend::TaskDraft& draft, const std::vector<std::string>& parameters,
                     const LauncherParameters& launcher);

/// `tensors` are the parameters that are not dims. Their lengths are products of dims: of the two
/// largest if that works, otherwise the smallest with which the reference runs.
/// `launcher` may know their dtypes.
Result<task::Task> load_flat(frontend::TaskDraft draft, const std::vector<std::string>& tensors,
                             const LauncherParameters& launcher = {});

}  // namespace kw::task_formats
