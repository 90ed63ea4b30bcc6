// Kernel names with template arguments, as text: splits them and inserts values. Internal.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw::kernel {

/// "rms" for "ns::rms<THREADS>".
std::string base_name(std::string_view kernel);
/// True when both are equal except for blanks. Also true when `asked` has no template arguments and
/// names the same function.
bool same_kernel(std::string_view asked, std::string_view launched);
/// Identifiers in the template arguments that are not qualified by "::" or ".".
std::vector<std::string> template_argument_names(std::string_view kernel);
/// The kernel with every such identifier replaced if `value` returns a text for it.
std::string substitute(std::string_view kernel,
                       const std::function<std::optional<std::string>(const std::string&)>& value);

}  // namespace kw::kernel
