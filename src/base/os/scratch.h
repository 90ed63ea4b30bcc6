// A temporary folder that is removed with its owner. The owner holds a lock on it, so that sweep()
// can tell the folders of killed processes from those in use.
#pragma once

#include <string>

#include "core/result.h"
#include "os/spawn.h"

namespace kw::os {

class ScratchFolder {
 public:
  /// "kernelwright-KIND-…" in $TMPDIR or /tmp, accessible only to us. Environment Error when it
  /// cannot be made. The first call of a process sweeps.
  static Result<ScratchFolder> make(const std::string& kind);
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&& other) noexcept;
  ~ScratchFolder();
  const std::string& path() const { return path_; }

  /// Removes our folders, of all kinds, that killed processes left behind.
  static void sweep();
  /// Only the first call of a process; make() calls it too.
  static void sweep_once();

 private:
  ScratchFolder() = default;
  std::string path_;
  UniqueFd lock_;  // open on the folder; the lock goes with the process
};

}  // namespace kw::os
