// The memory this process may still use. Callers refuse huge tensors with it, before the OOM killer
// ends the process, and tell a machine without memory from a program that takes too much.
#pragma once

#include <cstdint>
#include <string>

namespace kw::os {

/// The available bytes: MemAvailable, or the limit of the control group when it is lower. 0 when
/// unknown.
uint64_t available_memory();

/// Why this process and its children cannot have `bytes` of address space: a limit of the shell, or
/// strict accounting. "" when they can.
std::string why_no_memory(uint64_t bytes);

/// Gives memory that was freed back to the system. A job that ends leaves holes that the next one
/// does not fill, so a process with many jobs would grow.
void return_free_memory();

}  // namespace kw::os
