// The file system, as far as kernelwright needs it. Errors carry the path and the reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace kw::os {

/// Whole file as bytes. Refuses directories, devices and files over `limit` bytes with a clear
/// Error (Blame::Input).
Result<std::string> read_file(const std::string& path, uint64_t limit = uint64_t{1} << 30);
/// Whether a file must survive a power cut right after it was written; caches need not.
enum class Sync : uint8_t { Yes, No };
/// Temp file in the same folder + fsync + rename: readers see the old content or the new, never
/// half.
Status write_file(const std::string& path, std::string_view bytes, Sync sync = Sync::Yes);
/// To an open file: 0, or the errno of the write that failed.
int write_all(int fd, std::string_view bytes);
bool exists(const std::string& path);
bool is_directory(const std::string& path);
/// Bytes of a file; 0 when there is none.
uint64_t file_size(const std::string& path);
/// What may still be written to the file system a path is on; 0 when that cannot be told.
uint64_t free_space(const std::string& path);
Status make_directories(const std::string& path);
Status remove_file(const std::string& path);
/// Names (not paths) in a folder, sorted; empty when it cannot be read.
std::vector<std::string> list_directory(const std::string& path);
/// Paths that match a shell pattern (glob(3)), sorted.
std::vector<std::string> glob(const std::string& pattern);
/// Environment variable, or "".
std::string env(const char* name);
/// The same when it is an absolute path, else "": what is seen from the working directory may be
/// somebody else's, so nothing is ever run, loaded or read from there because of a variable.
std::string env_path(const char* name);
/// The absolute ones of a list like $PATH; an empty entry means the working directory, too.
std::vector<std::string> env_paths(const char* name);
/// Program found on PATH, of which only absolute entries count, or "". A name with a '/' must be
/// absolute.
std::string find_program(const std::string& name);
/// Takes the entries that are not absolute out of $PATH and $LD_LIBRARY_PATH, for the programs we
/// start and what they start; true when libraries would have been looked for there. Before any
/// thread asks for a variable.
bool drop_relative_paths();
/// Path of the running binary.
std::string self_path();
/// XDG cache folder for us: $KERNELWRIGHT_CACHE, else $XDG_CACHE_HOME/kernelwright, else
/// ~/.cache/kernelwright. Here and below, a variable whose value is not absolute does not count.
std::string cache_directory();
/// XDG data folder for us: $XDG_DATA_HOME/kernelwright, else ~/.local/share/kernelwright.
std::string data_directory();
/// XDG config folder for us: $XDG_CONFIG_HOME/kernelwright, else ~/.config/kernelwright.
std::string config_directory();

}  // namespace kw::os
