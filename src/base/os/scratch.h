// A temporary folder that is removed with its owner. sweep() removes folders of killed processes.
#pragma once

#include <string>

#include "core/result.h"

namespace kw::os {

class ScratchFolder {
 public:
  /// "kernelwright-KIND-…" in $TMPDIR or /tmp, accessible only to us. Environment Error when it
  /// cannot be made.
  static Result<ScratchFolder> make(const std::string& kind);
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&& other) noexcept;
  ~ScratchFolder();
  const std::string& path() const { return path_; }

  /// Removes folders of that kind that dead processes left behind more than a day ago.
  static void sweep(const std::string& kind);

 private:
  ScratchFolder() = default;
  std::string path_;
};

}  // namespace kw::os
