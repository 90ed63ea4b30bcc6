// Checks that a module has the methods it claims at the timed shape. Switching one off must change
// the code, and machine code must show it if it can be read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "workflows/task_tools.h"

namespace kw::workflows {

class Claims {
 public:
  /// The tools must outlive this.
  explicit Claims(TaskTools& tools) : tools_(tools) {}

  /// The ids of methods that the module claims by default but does not have. A method without a
  /// switch is compared with `parent`.
  Result<std::vector<std::string>> empty(const std::string& text, const std::string& parent);

 private:
  using Sass = std::optional<std::vector<profile::SassFunction>>;
  Result<const std::string*> code_of(const std::string& text);
  Result<const Sass*> machine_code_of(const std::string& text);
  /// False when machine code can be read and does not show the method.
  Result<bool> seen(const std::string& method, const std::string& text, const std::string& without);

  TaskTools& tools_;
  std::map<std::string, std::string> codes_;  // by text
  std::map<std::string, Sass> sass_;
};

/// The module without the `method` lines of these ids.
std::string without_claims(const std::string& text, const std::vector<std::string>& ids);

}  // namespace kw::workflows
