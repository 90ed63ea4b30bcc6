// A temporary folder that goes away with its owner, and with its process should that be killed.
#pragma once

#include <string>

#include "base/result.h"

namespace kw::compile {

class ScratchFolder {
 public:
  /// In $TMPDIR or /tmp; environment Error when none can be made there.
  static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&& other) noexcept;
  ~ScratchFolder();
  const std::string& path() const { return path_; }

  /// Removes what processes that were killed left behind.
  static void sweep();

 private:
  ScratchFolder() = default;
  std::string path_;
};

}  // namespace kw::compile
