// Whether the methods a module claims are there at the shape that counts: switched off they must
// change what runs, and where machine code can be read they must show in it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "workflows/workshop.h"

namespace kw::workflows {

class Claims {
 public:
  /// The workshop must outlive this.
  explicit Claims(TaskWorkshop& workshop) : workshop_(workshop) {}

  /// Ids of the methods claimed by default that are not there. `parent` is what a method without
  /// a switch is compared with.
  Result<std::vector<std::string>> empty(const std::string& text, const std::string& parent);

 private:
  using Sass = std::optional<std::vector<profile::SassFunction>>;
  Result<const std::string*> code_of(const std::string& text);
  Result<const Sass*> machine_code_of(const std::string& text);
  /// False when machine code can be read and the method is not in it.
  Result<bool> seen(const std::string& method, const std::string& text, const std::string& without);

  TaskWorkshop& workshop_;
  std::map<std::string, std::string> codes_;  // by text
  std::map<std::string, Sass> sass_;
};

/// The module without the `method` lines of these.
std::string without_claims(const std::string& text, const std::vector<std::string>& ids);

}  // namespace kw::workflows
