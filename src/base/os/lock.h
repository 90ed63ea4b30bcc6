// A lock file: one owner at a time among processes and within one process. The operating system
// frees the lock when its owner dies. The text in the file only names the owner.
#pragma once

#include <optional>
#include <string>

#include "core/result.h"
#include "os/spawn.h"

namespace kw::os {

class FileLock {
 public:
  /// Takes the lock, creating the file. Input Error that names the holder when the lock is held.
  static Result<FileLock> take(const std::string& path);
  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&&) noexcept = default;
  /// Frees the lock and empties the file. A name that stays in the file means that its owner died.
  ~FileLock();

  /// The previous owner if it died without freeing the lock ("process 123 on host"), otherwise "".
  const std::string& died() const { return died_; }

 private:
  FileLock() = default;
  UniqueFd fd_;
  std::string died_;
};

/// The current holder ("process 123 on host"); not set when the lock is free or the file is
/// missing.
std::optional<std::string> lock_holder(const std::string& path);

}  // namespace kw::os
