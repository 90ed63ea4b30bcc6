// Finds how a robust-kbench folder calls a candidate: which tensors and numbers, in which order,
// and the meaning of each result. It evaluates the folder's own code with a candidate that notes
// its arguments.
#pragma once

#include <optional>

#include "task/task.h"

namespace kw::task_formats {

/// The call in Model.forward(…, fn=candidate). Empty if the model does not call it that way, or if
/// a tensor is computed for the call.
std::optional<task::Call> forward_call(const task::Task& forward);

/// The call in AutogradFunction.backward with backward_fn = candidate. `backward` is the task of
/// the gradients of `forward`.
std::optional<task::Call> backward_call(const task::Task& forward, const task::Task& backward);

}  // namespace kw::task_formats
