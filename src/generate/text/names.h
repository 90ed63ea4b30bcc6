// Names in generated modules: reserved names of kernels, and plan names that do not clash with
// them.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace kw::generate {

/// Words of C++ and CUDA, and the variables of the schedules. No other object may have these names.
std::span<const std::string_view> reserved_words();

/// The name itself if it is valid in a plan and in device code and is not taken, otherwise a
/// similar one. Adds the result to `taken`.
std::string safe_name(const std::string& name, std::set<std::string>& taken);

}  // namespace kw::generate
