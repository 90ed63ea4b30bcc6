// The tables behind source_check: allowed headers and pragmas, refused words, and what inline
// assembly may not say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw::cuda_source {

bool header_allowed(std::string_view header);
/// For suggestions and the documentation's test.
std::vector<std::string> allowed_headers();

bool pragma_allowed(std::string_view name);
std::vector<std::string> allowed_pragmas();

/// Why a directive may not be used, or "".
std::string_view refused_directive(std::string_view name);
/// Why an identifier may not occur in code, or "".
std::string_view refused_identifier(std::string_view name);
/// Device functions that read a clock.
bool is_clock_function(std::string_view name);

struct AssemblyFault {
  std::string what;  // "declares a global variable"; "" when there is none
  std::string hint;
};
AssemblyFault find_assembly_fault(std::string_view assembly);

/// What stands between the quotes of a literal, with simple escapes resolved; raw literals as they
/// are.
std::string string_body(std::string_view literal);

}  // namespace kw::cuda_source
