// The part of an interview without a model: what reference, prompt and machine say about a kernel.
#pragma once

#include <string>

#include "arch/arch.h"
#include "core/result.h"
#include "stages/spec.h"
#include "task/task.h"

namespace kw::workflows {

/// The plan lines for a task's tensors and scalars, as code generation writes them.
Result<std::string> interface_lines(const task::Task& task, const arch::Target& target);

/// `priority` from the prompt or the user; "" is balanced.
Result<stages::KernelSpec> kernel_spec(const task::Task& task, const arch::Target& target,
                                       const std::string& interface, const std::string& priority);

/// The numbers of a GPU that an author needs.
std::string target_text(const arch::Target& target, const std::string& device, int sms,
                        int64_t l2_bytes);

}  // namespace kw::workflows
