// The deterministic part of an interview: what reference, prompt and machine say about a kernel
// without anybody being asked.
#pragma once

#include <string>

#include "arch/arch.h"
#include "core/result.h"
#include "stages/spec.h"
#include "task/task.h"

namespace kw::workflows {

/// The plan lines that name a task's tensors and scalars, as code generation writes them.
Result<std::string> interface_lines(const task::Task& task, const arch::Target& target);

/// `priority` as prompt and user said it; "" is balanced.
Result<stages::KernelSpec> kernel_spec(const task::Task& task, const arch::Target& target,
                                       const std::string& interface, const std::string& priority);

/// Numbers of a GPU that a kernel's author needs.
std::string target_text(const arch::Target& target, const std::string& device, int sms,
                        int64_t l2_bytes);

}  // namespace kw::workflows
