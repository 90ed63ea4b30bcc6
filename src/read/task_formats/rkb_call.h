// How a robust-kbench folder calls a candidate: which tensors and numbers, in which order, and what
// it takes each result for. Found by evaluating the folder's own code with a candidate that looks.
#pragma once

#include <optional>

#include "task/task.h"

namespace kw::task_formats {

/// Of Model.forward(…, fn=candidate). Nothing where that is not how it is called, or where a tensor
/// is computed for the call.
std::optional<task::Call> forward_call(const task::Task& forward);

/// Of AutogradFunction.backward with backward_fn = candidate; `backward` is the gradients of
/// `forward`.
std::optional<task::Call> backward_call(const task::Task& forward, const task::Task& backward);

}  // namespace kw::task_formats
