// The tables of source_check: allowed headers and pragmas, refused words, and refused inline
// assembly.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kw::cuda_source {

bool header_allowed(std::string_view header);
/// For suggestions and for the test of the documentation.
std::vector<std::string> allowed_headers();

bool pragma_allowed(std::string_view name);
std::vector<std::string> allowed_pragmas();

/// Why a directive may not be used, or "".
std::string_view refused_directive(std::string_view name);
/// Why an identifier may not occur in code, or "".
std::string_view refused_identifier(std::string_view name);

/// The refused identifier that macros could paste together from words of a text, or "".
std::string_view pasted_identifier(const std::set<std::string_view>& words);

struct AssemblyFault {
  std::string what;  // "declares a global variable"; "" when allowed
  std::string hint;
};
AssemblyFault find_assembly_fault(std::string_view assembly);

/// The text between the quotes of a literal, with simple escapes resolved. Raw literals are not
/// changed.
std::string string_body(std::string_view literal);

}  // namespace kw::cuda_source
