// Names in generated modules: what kernels call their own things, and plan names that clash with
// nothing.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace kw::generate {

/// Words of C++ and CUDA, and what the schedules call their own variables. Nothing else may be
/// called so.
std::span<const std::string_view> reserved_words();

/// The name where it can stand in a plan and in device code and is not taken, else one like it;
/// taken from then on.
std::string safe_name(const std::string& name, std::set<std::string>& taken);

}  // namespace kw::generate
