// Compilers, libraries and interpreters are searched for in many places. One of them may be a
// folder that every user can write, such as /tmp or a shared folder of a group. So before a file is
// run or loaded, its real place and each folder above are checked. Groups are accepted when they
// hold the user alone, which is the usual setting of Debian and Ubuntu. Owners other than the user
// and root are accepted below the folders of the system, which root manages: packages come with
// owners of their own.
#include "sandbox/trusted.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/text.h"

namespace kw::sandbox {
namespace {

bool is_systems(const std::string& path) {
  constexpr const char* kPlaces[] = {"/usr/",  "/opt/", "/lib",  "/bin/",
                                     "/sbin/", "/nix/", "/snap/"};
  return std::ranges::any_of(kPlaces, [&](const char* place) { return path.starts_with(place); });
}

/// Whether the group of a file is the user's own: Debian and Ubuntu give both the same number.
bool is_private_group(gid_t group) {
  return group == 0 || (group == ::getegid() && ::getegid() == ::geteuid());
}

Error changeable(const std::string& path, const std::string& of, const char* mend) {
  return environment_error("{} is not used, because other users can change {}; run: {} '{}'",
                           printable(of), printable(path), mend, printable(path));
}

}  // namespace

Status check_trusted(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(path, failed);
  if (failed) return Done{};
  for (std::filesystem::path at = real; at.has_relative_path(); at = at.parent_path()) {
    struct stat st {};
    if (::stat(at.c_str(), &st) != 0) continue;
    const bool others = (st.st_mode & S_IWOTH) != 0 ||
                        ((st.st_mode & S_IWGRP) != 0 && !is_private_group(st.st_gid));
    // In a sticky folder such as /tmp other users cannot replace the user's folders, but they can
    // put files beside the user's files, and libraries load what lies beside them.
    const bool sticky = (st.st_mode & S_ISVTX) != 0 && at != real && at != real.parent_path();
    if (others && !sticky) return changeable(at.string(), path, "chmod go-w");
    const bool strangers = st.st_uid != 0 && st.st_uid != ::geteuid();
    if (strangers && !is_systems(at.string()))
      return changeable(at.string(), path, "sudo chown root");
  }
  return Done{};
}

}  // namespace kw::sandbox
