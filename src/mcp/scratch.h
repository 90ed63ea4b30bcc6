// A private folder for texts that clients send instead of files, and for what a command leaves in
// its temporary folder. It goes with its owner.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kw::mcp {

class Scratch {
 public:
  /// A new folder that only we can look into.
  static Result<std::shared_ptr<Scratch>> make();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Removes what servers left that were killed long ago.
  static void sweep();
  const std::string& folder() const { return folder_; }

  /// The path of a new file with this text.
  Result<std::string> write(const std::string& name, std::string_view text);

 private:
  explicit Scratch(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

}  // namespace kw::mcp
