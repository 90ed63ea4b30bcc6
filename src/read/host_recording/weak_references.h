// Finds what a library asks for without needing it: a weak reference tells a program whether a
// function exists, so that it can behave differently where it is recorded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw::host_recording {

/// The names of weak references in a library's ELF image, except those of compilers. Empty for
/// bytes that are not such an image.
std::vector<std::string> weak_references(std::string_view library);

/// Why a library with this reference is refused.
std::string asks_whether(const std::string& name);

}  // namespace kw::host_recording
