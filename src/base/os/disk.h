// The writing side of the file system as a port, so that a test can cut power at every write.
// Reading needs no port: what a cut leaves behind is read with files.h.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "os/files.h"

namespace kw::os {

class Disk {
 public:
  virtual ~Disk() = default;
  /// Replaces the whole file or nothing: temporary file beside it, rename; with Sync::Yes both are
  /// on the disk when this returns.
  virtual Status write(const std::string& path, std::string_view bytes, Sync sync) = 0;
  /// Adds at the end (creating the file). A process that dies leaves a prefix of `bytes` at worst;
  /// an Error leaves the file as it was where that can be had. A link is not followed.
  virtual Status append(const std::string& path, std::string_view bytes) = 0;
  /// Cuts the file to its first `size` bytes. A link is not followed.
  virtual Status truncate(const std::string& path, uint64_t size) = 0;
  virtual Status make_directories(const std::string& path) = 0;
  /// A file, or a folder and all that is in it; nothing there is fine. Links are removed, not
  /// followed.
  virtual Status remove(const std::string& path) = 0;
};

/// The machine's.
Disk& real_disk();

}  // namespace kw::os
