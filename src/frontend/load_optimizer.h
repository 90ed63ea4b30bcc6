// The flat convention: reference(A, B, C, M, N, K) gets one-dimensional buffers and ints, and
// writes its results in place or returns them. Extents are not written anywhere; they are found by
// trying.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "frontend/make_task.h"

namespace kw::frontend {

/// `tensors`: the parameters that are no dims. Their lengths are products of dims: of the two
/// largest where that works, else the smallest with which the reference runs.
Result<task::Task> load_flat(TaskDraft draft, const std::vector<std::string>& tensors);

}  // namespace kw::frontend
