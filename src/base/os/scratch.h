// A temporary folder that goes away with its owner, and with its process should that be killed.
#pragma once

#include <string>

#include "core/result.h"

namespace kw::os {

class ScratchFolder {
 public:
  /// "kernelwright-KIND-…" in $TMPDIR or /tmp, for us alone; environment Error when none can be
  /// made there.
  static Result<ScratchFolder> make(const std::string& kind);
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&& other) noexcept;
  ~ScratchFolder();
  const std::string& path() const { return path_; }

  /// Removes what processes that were killed long ago left behind of that kind.
  static void sweep(const std::string& kind);

 private:
  ScratchFolder() = default;
  std::string path_;
};

}  // namespace kw::os
