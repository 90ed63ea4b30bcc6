// A cache is believed: its images are run and its agreements are not checked again. So its folders
// must belong to the user, and no other user may write there. Each one is checked through an open
// descriptor and the next one is opened relative to it, so that none can be swapped after its
// check. Checking all folders up to the root would be stricter. It is not needed, because a folder
// that a stranger puts in place of ours is the stranger's own. The cost: five system calls per
// file.
#include "os/own_files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "core/text.h"
#include "os/file_error.h"
#include "os/files.h"
#include "os/spawn.h"

namespace kw::os {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY;
constexpr int kFileFlags = O_RDONLY | O_NOCTTY | O_NONBLOCK;
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

UniqueFd open_at(int folder, const std::string& name, int flags) {
  int fd = -1;
  do {
    fd = ::openat(folder, name.c_str(), flags | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  return UniqueFd(fd);
}

Error changeable(const std::string& path, mode_t mode) {
  return environment_error("other users can change {} (mode {:o}); run: chmod -R go-w '{}'", path,
                           mode & 07777, path);
}

/// A folder whose parent others can write can be renamed by them, except in a sticky folder such as
/// /tmp.
Status check_parent(int folder, const std::string& path) {
  const UniqueFd parent = open_at(folder, "..", kFolderFlags);
  struct stat st {};
  if (!parent || ::fstat(parent.get(), &st) != 0)
    return Done{};  // not ours to read, so not to write
  if ((st.st_mode & kOthersWrite) != 0 && (st.st_mode & S_ISVTX) == 0)
    return changeable(path.substr(0, path.find_last_of('/')), st.st_mode);
  return Done{};
}

std::string home_of_user_database() {
  struct passwd entry {};
  struct passwd* found = nullptr;
  std::vector<char> buffer(1 << 14);
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr || found->pw_dir == nullptr)
    return "";
  const std::string home = found->pw_dir;
  struct stat st {};
  const bool ours = home.starts_with("/") && ::stat(home.c_str(), &st) == 0 &&
                    S_ISDIR(st.st_mode) && st.st_uid == ::geteuid();
  return ours ? home : "";
}

}  // namespace

Status check_own(int fd, const std::string& path) {
  struct stat st {};
  if (::fstat(fd, &st) != 0) return file_error("reading", path, errno);
  if (st.st_uid != ::geteuid())
    return environment_error(
        "{} belongs to another user (number {}); remove it or use another "
        "folder",
        path, st.st_uid);
  if ((st.st_mode & kOthersWrite) != 0) return changeable(path, st.st_mode);
  return Done{};
}

Status check_own_folder(const std::string& folder) {
  const UniqueFd fd = open_at(AT_FDCWD, folder, kFolderFlags);
  if (!fd && errno == ENOENT) return Done{};
  if (!fd) return file_error("reading", folder, errno);
  KW_TRY(check_own(fd.get(), folder));
  return check_parent(fd.get(), folder);
}

Result<bool> make_new_directory(const std::string& path) {
  if (::mkdir(path.c_str(), kOwnFolderMode) == 0) return true;
  if (errno == EEXIST) return false;
  return file_error("creating folder", path, errno);
}

Result<std::string> read_own(const std::string& folder, const std::string& name, uint64_t limit) {
  UniqueFd at = open_at(AT_FDCWD, folder, kFolderFlags);
  if (!at) return file_error("reading", folder, errno);
  KW_TRY(check_own(at.get(), folder));
  KW_TRY(check_parent(at.get(), folder));
  const std::vector<std::string> parts = split(name, '/');
  std::string path = folder;
  for (size_t i = 0; i < parts.size(); ++i) {
    path += "/" + parts[i];
    const int flags = (i + 1 < parts.size() ? kFolderFlags : kFileFlags) | O_NOFOLLOW;
    UniqueFd next = open_at(at.get(), parts[i], flags);
    if (!next) return file_error("reading", path, errno);
    KW_TRY(check_own(next.get(), path));
    at = std::move(next);
  }
  return read_open_file(at.get(), path, limit);
}

Result<std::string> read_own_file(const std::string& path, uint64_t limit) {
  const size_t slash = path.rfind('/');
  return read_own(path.substr(0, slash), path.substr(slash + 1), limit);
}

Result<std::string> private_home(const std::string& root) {
  const std::string path = fmt::format("{}/.kernelwright-home-{}", root, ::geteuid());
  const auto refused = [&](const std::string& why) {
    return environment_error("$HOME is not set and this user has no home folder: {}; set HOME",
                             why);
  };
  if (::mkdir(path.c_str(), kOwnFolderMode) != 0 && errno != EEXIST)
    return refused(file_error("creating folder", path, errno).message);
  const UniqueFd fd = open_at(AT_FDCWD, path, kFolderFlags | O_NOFOLLOW);
  if (!fd) return refused(file_error("reading", path, errno).message);
  struct stat st {};
  if (Status ours = check_own(fd.get(), path); !ours) return refused(ours.error().message);
  if (::fstat(fd.get(), &st) != 0 || (st.st_mode & 0077) != 0)
    return refused(path + " can be read by other users");
  return path;
}

Result<std::string> home_directory() {
  if (std::string home = env_path("HOME"); !home.empty()) return home;
  if (std::string home = home_of_user_database(); !home.empty()) return home;
  const std::string chosen = env_path("TMPDIR");
  return private_home(chosen.empty() ? "/tmp" : chosen);
}

}  // namespace kw::os
