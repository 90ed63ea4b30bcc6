// One wording for failed file operations, and functions that the file readers share. Internal to
// os.
#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"

namespace kw::os {

/// "reading x.cu: No such file or directory". A wrong name is an input Error; permissions and disk
/// space are environment Errors.
Error file_error(const std::string& doing, const std::string& path, int code);
/// The text of an errno. For a full table of descriptors it names the limit and how to raise it.
std::string reason_of(int code);
/// The second half of read_file(), for a file that is already open.
Result<std::string> read_open_file(int fd, const std::string& path, uint64_t limit);
/// The path a descriptor is open on; "" when /proc does not tell.
std::string opened_path(int fd);
/// A name for use in a message: control characters replaced, at most 200 bytes plus "...".
std::string without_controls(std::string text);

}  // namespace kw::os
