#include "binding/load.h"

#include <algorithm>

#include "core/text.h"
#include "kernel/parse_module.h"
#include "os/files.h"

namespace kw::binding {

namespace {

// A file name may hold any byte; messages and reports need printable text.
std::string shown_name(const std::string& path) {
  std::string name = printable(path.substr(path.rfind('/') + 1));
  std::replace(name.begin(), name.end(), '\n', '?');
  return name;
}

}  // namespace

Result<kernel::Module> parse_module(const std::string& text, const std::string& file_name) {
  if (trim(text).empty())
    return input_error(file_name + " is empty; a kernel module begins with '//! kernelwright 1'");
  if (text.find('\0') != std::string::npos) {
    return input_error(file_name + " is a binary file, not a kernel module (it has NUL bytes)");
  }
  kernel::ParseOutcome outcome = kernel::parse(text, file_name);
  if (outcome.module) return std::move(*outcome.module);
  const size_t count = outcome.diagnostics.size();
  return input_error("{} is not a valid kernel module: {} problem{}\n{}", file_name, count,
                     count == 1 ? "" : "s",
                     trim(cuda_source::render_diagnostics(outcome.diagnostics, text, file_name)));
}

Result<kernel::Module> load_module(const std::string& path) {
  const std::string text = KW_TRY(os::read_file(path, kernel::kMaxModuleBytes));
  return parse_module(text, shown_name(path));
}

}  // namespace kw::binding
