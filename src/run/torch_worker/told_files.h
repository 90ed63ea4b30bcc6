// Remembers which executed files the user was told of, by their contents. So a file is announced
// once, and again when it changes.
#pragma once

#include <string>

namespace kw::torch_worker {

/// False when the memory cannot be read, so that the user is told again.
bool was_told(const std::string& hash);
/// Keeps nothing when it cannot be written.
void remember_told(const std::string& hash);

}  // namespace kw::torch_worker
