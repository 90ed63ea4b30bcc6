// Folders that people download or are sent: what they name must lie inside them. "../../secret", an
// absolute path or a link that leads elsewhere is refused, whoever wrote it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "os/files.h"

namespace kw::os {

/// Whether a path is the folder or lies beneath it; both resolved already.
bool lies_in(const std::string& path, const std::string& folder);

/// Where a path that a file of the folder names leads: seen from the folder, every link and ".."
/// resolved. Input Error when nothing is there or it is not inside the folder, which may itself be
/// named through links; whether something is there outside is not told.
Result<std::string> inside(const std::string& folder, const std::string& path);

/// The text of a regular file inside the folder. What was opened is checked again, so that a link
/// put there meanwhile is refused, too.
Result<std::string> read_inside(const std::string& folder, const std::string& path, uint64_t limit);
/// The same for a file that may be missing: then nothing.
Result<std::optional<std::string>> read_inside_if_there(const std::string& folder,
                                                        const std::string& path, uint64_t limit);
/// write_file() for a file that must come to lie inside the folder, which is there.
Status write_inside(const std::string& folder, const std::string& path, std::string_view bytes,
                    Sync sync = Sync::Yes);

/// For folders we wrote once and go on writing in: an Input Error that names the first link which
/// leads out of it, or the first pipe, socket or device, at any depth.
Status check_contained(const std::string& folder);

}  // namespace kw::os
