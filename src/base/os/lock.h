// A lock file: one owner at a time among processes (and within one). The operating system frees it
// when its owner dies, however it dies; what is written in it only says who that is or was.
#pragma once

#include <optional>
#include <string>

#include "core/result.h"
#include "os/spawn.h"

namespace kw::os {

class FileLock {
 public:
  /// Takes the lock, creating the file. Input Error that names the holder when it is taken.
  static Result<FileLock> take(const std::string& path);
  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&&) noexcept = default;
  /// Frees it and empties the file: a name left in one says that its owner died.
  ~FileLock();

  /// The owner that died without freeing it ("process 123 on host"), or "".
  const std::string& died() const { return died_; }

 private:
  FileLock() = default;
  UniqueFd fd_;
  std::string died_;
};

/// Who holds the lock now ("process 123 on host"), or nothing when it is free or not there.
std::optional<std::string> lock_holder(const std::string& path);

}  // namespace kw::os
