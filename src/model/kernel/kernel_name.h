// Kernel names with template arguments, as text: taking them apart and putting values in. Internal.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw::kernel {

/// "rms" for "ns::rms<THREADS>".
std::string base_name(std::string_view kernel);
/// True when both are the same but for blanks, or `asked` has no template arguments and names the
/// same function.
bool same_kernel(std::string_view asked, std::string_view launched);
/// Identifiers inside the template arguments that are not qualified by "::" or ".".
std::vector<std::string> template_argument_names(std::string_view kernel);
/// The kernel with every such identifier replaced for which `value` gives something.
std::string substitute(std::string_view kernel,
                       const std::function<std::optional<std::string>(const std::string&)>& value);

}  // namespace kw::kernel
