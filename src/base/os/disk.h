// The writing side of the file system as a port, so that a test can simulate a power cut at every
// write. Reading needs no port: files.h reads what a cut leaves behind.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "os/files.h"

namespace kw::os {

class Disk {
 public:
  virtual ~Disk() = default;
  /// Replaces the whole file or leaves it unchanged: writes a temporary file beside it and renames
  /// it. With Sync::Yes both are on the disk when this returns.
  virtual Status write(const std::string& path, std::string_view bytes, Sync sync) = 0;
  /// The same without a new file, for a disk that takes none: overwrites the existing file `spare`
  /// and renames it to `path`. Input Error when there is no such file.
  virtual Status replace_by(const std::string& path, const std::string& spare,
                            std::string_view bytes) = 0;
  /// Appends, creating the file if needed. If the process dies, at most a prefix of `bytes` is
  /// left. After an Error the file is restored when possible. A link is not followed.
  virtual Status append(const std::string& path, std::string_view bytes) = 0;
  /// Cuts the file to its first `size` bytes. A link is not followed.
  virtual Status truncate(const std::string& path, uint64_t size) = 0;
  virtual Status make_directories(const std::string& path) = 0;
  /// Removes a file, or a folder with its contents. A missing path is not an Error. Links are
  /// removed, not followed.
  virtual Status remove(const std::string& path) = 0;
};

/// The real disk of the machine.
Disk& real_disk();

}  // namespace kw::os
