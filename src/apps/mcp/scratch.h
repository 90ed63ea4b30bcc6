// A private folder for texts that clients send instead of files, and for temporary files of a
// command. It is deleted with its owner.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.h"
#include "os/scratch.h"

namespace kw::mcp {

class Scratch {
 public:
  static Result<std::shared_ptr<Scratch>> make();
  const std::string& folder() const { return folder_.path(); }

  /// Writes a new file with this text and returns its path.
  Result<std::string> write(const std::string& name, std::string_view text);

 private:
  explicit Scratch(os::ScratchFolder folder) : folder_(std::move(folder)) {}
  os::ScratchFolder folder_;
};

}  // namespace kw::mcp
