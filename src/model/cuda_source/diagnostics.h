// Problems in the text of a kernel module, with their places. Users and models both read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw::cuda_source {

/// One problem. Lines and columns count from 1, columns in bytes. Line 0 means the whole file.
struct Diagnostic {
  int line = 0, column = 0, length = 1;
  std::string message;
  std::string hint;  // how to fix it; may be empty
};

/// For each problem in order: "file:3:9: error: …", the source line, a caret, "hint: …".
std::string render_diagnostics(const std::vector<Diagnostic>& diagnostics, std::string_view text,
                               const std::string& file_name);

}  // namespace kw::cuda_source
