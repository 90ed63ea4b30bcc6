// Files and folders that only this user may change: caches, and the home folder they lie in.
// Another user who could change a cache could choose what is judged or run.
#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"

namespace kw::os {

/// What we make is for its user alone, whatever the umask.
inline constexpr unsigned kOwnFileMode = 0600;
inline constexpr unsigned kOwnFolderMode = 0700;

/// Environment Error when another user owns the opened file or folder, or may change it. The Error
/// names the command that mends it.
Status check_own(int fd, const std::string& path);
/// The same for a folder by name. A missing folder is not an Error.
Status check_own_folder(const std::string& folder);

/// Makes a folder that must not exist yet, for this user alone. False when something has its name
/// already, so that of several processes only one gets a name.
Result<bool> make_new_directory(const std::string& path);

/// The bytes of folder/name. The folder, all folders down to the file and the file itself are
/// checked after they were opened. Links below the folder are not followed. Input Error when the
/// file is missing, Environment Error when another user may change one of them.
Result<std::string> read_own(const std::string& folder, const std::string& name,
                             uint64_t limit = uint64_t{1} << 30);

/// The same for a file and the folder that it lies in.
Result<std::string> read_own_file(const std::string& path, uint64_t limit);

/// The user's home folder: $HOME when it is absolute, otherwise the one in the user database when
/// it is the user's, otherwise private_home(). Environment Error when there is none.
Result<std::string> home_directory();
/// A folder in `root` that only this user can enter; made when it is missing. Environment Error
/// when something else has its name.
Result<std::string> private_home(const std::string& root);

}  // namespace kw::os
