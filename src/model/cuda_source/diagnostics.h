// What is wrong with a kernel module's text, and where. Shown to people and to language models
// alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw::cuda_source {

/// One problem. Lines and columns count from 1, columns in bytes; line 0 means the file as a whole.
struct Diagnostic {
  int line = 0, column = 0, length = 1;
  std::string message;
  std::string hint;  // how to mend it; may be empty
};

/// "file:3:9: error: …", the source line, a caret under the place, "hint: …", for each problem in
/// order.
std::string render_diagnostics(const std::vector<Diagnostic>& diagnostics, std::string_view text,
                               const std::string& file_name);

}  // namespace kw::cuda_source
