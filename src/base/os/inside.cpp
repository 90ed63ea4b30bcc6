// A folder that a user downloaded can name files outside itself: through "..", absolute paths or
// links. Every path is therefore checked twice. The text of the path is checked first, without
// touching the disk. Then realpath() resolves all links, and the result must lie in the folder.
// read_inside() also checks the opened descriptor, because a link can be swapped between check and
// open. openat2() with RESOLVE_BENEATH would do this in one call, but it refuses absolute links
// that stay inside. The cost: several system calls per file.
#include "os/inside.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "os/file_error.h"
#include "os/spawn.h"

namespace kw::os {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestPath = 4096;
constexpr int kMostLevels = 32;

/// Returns "" and sets errno when the path cannot be resolved.
std::string resolved_path(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  std::string result = real == nullptr ? "" : real;
  std::free(real);
  return result;
}

bool has_control(std::string_view path) {
  return std::any_of(path.begin(), path.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
}

std::string seen_from(const std::string& folder, const std::string& path) {
  return path.starts_with("/") ? path : folder + "/" + path;
}

Error leads_out(const std::string& folder, const std::string& path) {
  return input_error("{}: it does not lie inside {}; what a folder names must lie in that folder",
                     path, folder);
}

Status check_words(const std::string& folder, const std::string& path) {
  if (path.empty()) return input_error("{}: a path in it is empty", folder);
  if (path.size() > kLongestPath || has_control(path))
    return input_error("{}: a path in it is too long or holds control characters: '{}'", folder,
                       without_controls(path));
  return Done{};
}

/// Checks the text of the path alone, before the disk is touched: it must not lead out.
bool stays_by_its_words(const std::string& folder, const std::string& base,
                        const std::string& path) {
  const fs::path plain = fs::path(path).lexically_normal();
  if (!path.starts_with("/")) return plain.empty() || *plain.begin() != "..";
  std::error_code failed;
  const fs::path named = fs::absolute(folder, failed).lexically_normal();
  return lies_in(plain.string(), base) || (!failed && lies_in(plain.string(), named.string()));
}

/// Whether the way to a missing path contains a link.
bool goes_through_link(const std::string& folder, const std::string& path) {
  std::error_code failed;
  fs::path at = path.starts_with("/") ? fs::path() : fs::path(folder);
  for (const fs::path& part : fs::path(path)) {
    at /= part;
    if (lies_in(folder, at.string())) continue;  // part of the way to the folder itself
    if (fs::is_symlink(fs::symlink_status(at, failed))) return true;
  }
  return false;
}

Result<std::string> base_of(const std::string& folder) {
  std::string base = resolved_path(folder);
  if (base.empty()) return file_error("reading", folder, errno);
  return base;
}

/// The target of a broken link, computed from its text.
std::string where_it_points(const std::string& link) {
  std::error_code failed;
  const fs::path target = fs::read_symlink(link, failed);
  const fs::path parent = resolved_path(fs::path(link).parent_path().string());
  return (parent / target).lexically_normal().string();
}

Status check_entry(const std::string& base, const std::string& path, mode_t mode);

Status check_folder(const std::string& base, const std::string& folder, int level) {
  if (level > kMostLevels) return input_error("{}: more than {} folders deep", folder, kMostLevels);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (!entries) return Done{};  // the function that reads the folder reports this
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || entry->d_type == DT_REG) continue;
    const std::string path = folder + "/" + std::string(name);
    struct stat st {};
    if (::lstat(path.c_str(), &st) != 0) continue;
    if (S_ISDIR(st.st_mode))
      KW_TRY(check_folder(base, path, level + 1));
    else
      KW_TRY(check_entry(base, path, st.st_mode));
  }
  return Done{};
}

Status check_entry(const std::string& base, const std::string& path, mode_t mode) {
  if (S_ISREG(mode)) return Done{};
  if (!S_ISLNK(mode))
    return input_error(
        "{} is a pipe, a socket or a device; this folder may hold files and folders only: remove "
        "it",
        without_controls(path));
  const std::string real = resolved_path(path);
  if (lies_in(real.empty() ? where_it_points(path) : real, base)) return Done{};
  return input_error(
      "{} is a link that leads out of its folder, so nothing is read or written through it: remove "
      "it, or put the file itself there",
      without_controls(path));
}

}  // namespace

std::string opened_path(int fd) {
  char buffer[PATH_MAX];
  const ssize_t n = ::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), buffer, sizeof(buffer));
  return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : "";
}

std::string without_controls(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  constexpr size_t kMostShown = 200;
  if (text.size() > kMostShown) text = text.substr(0, kMostShown) + "...";
  return text;
}

bool lies_in(const std::string& path, const std::string& folder) {
  return folder == "/" || path == folder || path.starts_with(folder + "/");
}

Result<std::string> inside(const std::string& folder, const std::string& path) {
  KW_TRY(check_words(folder, path));
  const std::string base = KW_TRY(base_of(folder));
  if (!stays_by_its_words(folder, base, path)) return leads_out(folder, path);
  const std::string whole = seen_from(folder, path);
  const std::string real = resolved_path(whole);
  if (!real.empty() && lies_in(real, base)) return real;
  const int code = errno;
  if (!real.empty() || goes_through_link(folder, path)) return leads_out(folder, path);
  return file_error("reading", whole, code);
}

Result<std::string> read_inside(const std::string& folder, const std::string& path,
                                uint64_t limit) {
  const std::string real = KW_TRY(inside(folder, path));
  const std::string base = KW_TRY(base_of(folder)), whole = seen_from(folder, path);
  int fd = -1;
  do {
    fd = ::open(real.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  const UniqueFd file(fd);
  if (!file) return file_error("reading", whole, errno);
  const std::string opened = opened_path(file.get());
  if (!opened.empty() && !lies_in(opened, base)) return leads_out(folder, path);
  return read_open_file(file.get(), whole, limit);
}

Result<std::optional<std::string>> read_inside_if_there(const std::string& folder,
                                                        const std::string& path, uint64_t limit) {
  KW_TRY(check_words(folder, path));
  const std::string base = KW_TRY(base_of(folder));
  struct stat st {};
  if (stays_by_its_words(folder, base, path) &&
      ::lstat(seen_from(folder, path).c_str(), &st) != 0 && (errno == ENOENT || errno == ENOTDIR) &&
      !goes_through_link(folder, path))
    return std::optional<std::string>();
  return std::optional(KW_TRY(read_inside(folder, path, limit)));
}

Status write_inside(const std::string& folder, const std::string& path, std::string_view bytes,
                    Sync sync) {
  KW_TRY(check_words(folder, path));
  const std::string base = KW_TRY(base_of(folder)), whole = seen_from(folder, path);
  if (!stays_by_its_words(folder, base, path)) return leads_out(folder, path);
  const std::string parent = resolved_path(fs::path(whole).parent_path().string());
  if (parent.empty()) return file_error("writing", whole, errno);
  struct stat st {};
  const bool there = ::lstat(whole.c_str(), &st) == 0;
  if (!lies_in(parent, base)) return leads_out(folder, path);
  if (there && !S_ISDIR(st.st_mode)) KW_TRY(check_entry(base, whole, st.st_mode));
  return write_file(whole, bytes, sync);
}

Status check_contained(const std::string& folder) {
  const std::string base = resolved_path(folder);
  // The function that opens a missing folder reports that it is missing.
  return base.empty() ? Status(Done{}) : check_folder(base, folder, 0);
}

}  // namespace kw::os
