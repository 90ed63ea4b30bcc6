// For folders that users download or receive: every path that such a folder names must lie inside
// it. "../../secret", an absolute path or a link that leads outside is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "os/files.h"

namespace kw::os {

/// Whether a path is the folder or lies beneath it. Both must be resolved already.
bool lies_in(const std::string& path, const std::string& folder);

/// Resolves a path that a file of the folder names, relative to the folder, with every link and
/// "..". Input Error when the file is missing or not inside the folder. The folder itself may be
/// named through links. The Error does not reveal whether a file outside exists.
Result<std::string> inside(const std::string& folder, const std::string& path);

/// The text of a regular file inside the folder. The opened file is checked again, so a link that
/// was swapped in meanwhile is refused too.
Result<std::string> read_inside(const std::string& folder, const std::string& path, uint64_t limit);
/// The same for a file that may be missing; then the value is not set.
Result<std::optional<std::string>> read_inside_if_there(const std::string& folder,
                                                        const std::string& path, uint64_t limit);
/// write_file() for a file that must lie inside the folder. The folder must exist.
Status write_inside(const std::string& folder, const std::string& path, std::string_view bytes,
                    Sync sync = Sync::Yes);

/// For folders that we write into repeatedly. Input Error that names the first link out of the
/// folder, or the first pipe, socket or device, at any depth.
Status check_contained(const std::string& folder);

}  // namespace kw::os
