// The file system functions that kernelwright needs. Errors carry the path and the reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace kw::os {

/// The whole file as bytes. Directories, devices and files over `limit` bytes give an input Error.
Result<std::string> read_file(const std::string& path, uint64_t limit = uint64_t{1} << 30);
/// Whether a file must survive a power cut right after it was written. Caches need not.
enum class Sync : uint8_t { Yes, No };
/// Writes a temporary file in the same folder, then renames it. Readers see the old content or the
/// new content, never a part. Sync::Yes adds an fsync before the rename. Only this user can read
/// the new file.
Status write_file(const std::string& path, std::string_view bytes, Sync sync = Sync::Yes);
/// Waits until the file's bytes are on the disk.
Status sync_file(const std::string& path);
/// Writes to an open file. Returns 0, or the errno of the write that failed.
int write_all(int fd, std::string_view bytes);
bool exists(const std::string& path);
bool is_directory(const std::string& path);
/// The size of a file in bytes; 0 when the file does not exist.
uint64_t file_size(const std::string& path);
/// The free bytes on the file system of a path; 0 when unknown.
uint64_t free_space(const std::string& path);
/// Makes the missing folders of the path, for this user alone.
Status make_directories(const std::string& path);
Status remove_file(const std::string& path);
/// Names (not paths) in a folder, sorted; empty when the folder cannot be read.
std::vector<std::string> list_directory(const std::string& path);
/// Paths that match a shell pattern (glob(3)), sorted.
std::vector<std::string> glob(const std::string& pattern);
/// The value of an environment variable, or "".
std::string env(const char* name);
/// The value when it is an absolute path, otherwise "". A stranger may control the working
/// directory. So no variable may make us run, load or read a file relative to it.
std::string env_path(const char* name);
/// The absolute entries of a list like $PATH. An empty entry means the working directory and is
/// dropped.
std::vector<std::string> env_paths(const char* name);
/// The path of a program found on PATH, or "". Only absolute entries of PATH count. A name with a
/// '/' must be absolute.
std::string find_program(const std::string& name);
/// Removes the entries that are not absolute from $PATH and $LD_LIBRARY_PATH, for the programs we
/// start. Returns true when $LD_LIBRARY_PATH changed. Call it before any thread reads a variable.
bool drop_relative_paths();
/// Path of the running binary, or the path given to set_own_program().
std::string self_path();
/// Our cache folder: $KERNELWRIGHT_CACHE, otherwise $XDG_CACHE_HOME/kernelwright, otherwise
/// ~/.cache/kernelwright. Here and below, a variable whose value is not absolute is ignored, and
/// without $HOME the home is that of os/own_files.h.
std::string cache_directory();
/// Our data folder: $XDG_DATA_HOME/kernelwright, otherwise ~/.local/share/kernelwright.
std::string data_directory();
/// Our config folder: $XDG_CONFIG_HOME/kernelwright, otherwise ~/.config/kernelwright.
std::string config_directory();

}  // namespace kw::os
