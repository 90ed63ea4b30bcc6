// The folders that a client may name files in. Every path is resolved first, links and ".."
// included; what then lies outside is refused.
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

  /// A file or folder that is there, resolved. Relative paths are seen from the first root.
  Result<std::string> existing(const std::string& path) const;
  /// The same for a file of at most `limit` bytes.
  Result<std::string> file(const std::string& path, uint64_t limit) const;
  /// A path that need not be there yet; as much of it as is there is resolved.
  Result<std::string> place(const std::string& path) const;

  const std::vector<std::string>& folders() const { return folders_; }

 private:
  Result<std::string> inside(const std::string& resolved, const std::string& asked) const;
  Result<std::string> absolute(const std::string& path) const;

  std::vector<std::string> folders_;  // resolved
};

}  // namespace kw::mcp
