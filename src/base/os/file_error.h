// The one wording of a failed file operation, and what reading files shares. Internal to os.
#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"

namespace kw::os {

/// "reading x.cu: No such file or directory"; permission and space are the machine's business, a
/// wrong name is the user's.
Error file_error(const std::string& doing, const std::string& path, int code);
/// The rest of read_file(), of a file that is open.
Result<std::string> read_open_file(int fd, const std::string& path, uint64_t limit);
/// Which file a descriptor is open on; "" where /proc does not say.
std::string opened_path(int fd);
/// As a message may show a name: one line, not endless.
std::string without_controls(std::string text);

}  // namespace kw::os
