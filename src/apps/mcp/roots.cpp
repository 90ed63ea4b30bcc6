#include "mcp/roots.h"

#include <sys/stat.h>

#include <filesystem>

#include "core/text.h"
#include "os/files.h"
#include "os/inside.h"

namespace kw::mcp {
namespace {

constexpr size_t kLongestPath = 4096;

namespace fs = std::filesystem;

}  // namespace

Result<Roots> Roots::open(const std::vector<std::string>& folders) {
  Roots roots;
  for (const std::string& folder : folders) {
    std::error_code problem;
    const fs::path resolved = fs::canonical(folder, problem);
    if (problem || !os::is_directory(resolved.string()))
      return input_error("{}: not a folder that can be read", folder);
    if (resolved.string().find('\n') != std::string::npos)
      return input_error("a folder that is allowed must not have a newline in its name");
    roots.folders_.push_back(resolved.string());
  }
  if (roots.folders_.empty()) return input_error("at least one folder must be allowed");
  return roots;
}

Result<std::string> Roots::absolute(const std::string& path) const {
  if (path.empty()) return input_error("a path must not be empty");
  if (path.size() > kLongestPath || path.find('\0') != std::string::npos)
    return input_error("not a path");
  return (fs::path(folders_.front()) / path).string();
}

Result<std::string> Roots::inside(const std::string& resolved, const std::string& asked) const {
  for (const std::string& folder : folders_) {
    if (os::lies_in(resolved, folder)) return resolved;
  }
  return input_error("{}: outside of the allowed folders ({})", asked, join(folders_, ", "));
}

Result<std::string> Roots::existing(const std::string& path) const {
  std::error_code problem;
  const fs::path resolved = fs::canonical(KW_TRY(absolute(path)), problem);
  if (!problem) return inside(resolved.string(), path);
  KW_TRY(place(path));  // do not reveal whether a file outside the roots exists
  return input_error("{}: no such file or folder", path);
}

Result<std::string> Roots::file(const std::string& path, uint64_t limit) const {
  const std::string resolved = KW_TRY(existing(path));
  struct stat status {};
  if (::stat(resolved.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return input_error("{}: not a file", path);
  if (static_cast<uint64_t>(status.st_size) > limit)
    return input_error("{}: {}; at most {} are read", path,
                       human_bytes(static_cast<uint64_t>(status.st_size)), human_bytes(limit));
  return resolved;
}

Result<std::string> Roots::place(const std::string& path) const {
  std::error_code problem;
  const fs::path resolved = fs::weakly_canonical(KW_TRY(absolute(path)), problem);
  if (problem) return input_error("{}: {}", path, problem.message());
  for (fs::path part = resolved; part.has_relative_path(); part = part.parent_path()) {
    // A file created through such a link would be created where the link points.
    if (fs::is_symlink(fs::symlink_status(part, problem)))
      return input_error("{}: the link is broken", path);
  }
  return inside(resolved.string(), path);
}

}  // namespace kw::mcp
