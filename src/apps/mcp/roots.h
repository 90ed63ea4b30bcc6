// The folders in which a client may name files. Every path is resolved first, with links and "..";
// a path outside the folders is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"

namespace kw::mcp {

class Roots {
 public:
  /// Each must be a folder; the Error names the one that is not.
  static Result<Roots> open(const std::vector<std::string>& folders);

  /// An existing file or folder, resolved. Relative paths start at the first root.
  Result<std::string> existing(const std::string& path) const;
  /// The same for a file of at most `limit` bytes.
  Result<std::string> file(const std::string& path, uint64_t limit) const;
  /// A path that need not exist yet; the existing part of it is resolved.
  Result<std::string> place(const std::string& path) const;

  const std::vector<std::string>& folders() const { return folders_; }

 private:
  Result<std::string> inside(const std::string& resolved, const std::string& asked) const;
  Result<std::string> absolute(const std::string& path) const;

  std::vector<std::string> folders_;  // resolved
};

}  // namespace kw::mcp
