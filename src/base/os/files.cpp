// Reading and writing files, and the paths that environment variables name. A write must never
// leave half a file, so write_file() writes a temporary file and renames it. Writing in place would
// be cheaper, but a crash would leave half a file; only devices and pipes are written in place.
// Relative entries of $PATH and similar variables are ignored, because the working directory may
// hold files of a stranger. The cost: a write needs a free temporary name in the same folder and,
// with Sync::Yes, one fsync.
#include "os/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <glob.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "core/text.h"
#include "os/file_error.h"
#include "os/keys.h"
#include "os/own_files.h"
#include "os/own_program.h"
#include "os/permissions.h"

namespace kw::os {
namespace {

// Set once by the program that loaded us as a library, before self_path() is called.
std::string& own_program() {
  static std::string path;
  return path;
}

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

int open_retrying(const std::string& path, int flags, mode_t mode = 0) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

// Follows a symbolic link, so that its target is replaced and the link stays.
std::string resolved(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string result = real;
  std::free(real);
  return result;
}

Status write_in_place(const std::string& path, std::string_view bytes) {
  Fd fd(open_retrying(path, O_WRONLY | O_NOCTTY));
  if (fd.get() < 0) return file_error("writing", path, errno);
  KW_TRY(check_opened(fd.get(), path));
  if (int code = write_all(fd.get(), bytes); code != 0) return file_error("writing", path, code);
  if (fd.close() != 0) return file_error("writing", path, errno);
  return Done{};
}

// Nothing can be made beneath it. A function that has to write there reports an Error.
std::string home_or_nowhere() {
  const Result<std::string> home = home_directory();
  return home ? *home : "/dev/null";
}

std::string temporary_name(const std::string& path) {
  static std::atomic<uint64_t> counter{0};
  return fmt::format("{}.tmp-{}-{}", path, ::getpid(), counter.fetch_add(1));
}

}  // namespace

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), std::min(bytes.size(), size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

std::string reason_of(int code) {
  struct rlimit most {};
  if (code != EMFILE || ::getrlimit(RLIMIT_NOFILE, &most) != 0) return std::strerror(code);
  return fmt::format(
      "{}\n  hint: this process may open {} files at a time; raise it: ulimit -n 1024",
      std::strerror(code), most.rlim_cur);
}

Error file_error(const std::string& doing, const std::string& path, int code) {
  const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  const std::string text =
      fmt::format("{} {}: {}{}", doing, path, reason_of(code),
                  full ? "\n  hint: free space there, or write to another folder" : "");
  const bool users = code == ENOENT || code == ENOTDIR || code == EISDIR || code == ENAMETOOLONG ||
                     code == ELOOP || code == EINVAL;
  return users ? input_error(text) : environment_error(text);
}

Result<std::string> read_file(const std::string& path, uint64_t limit) {
  // O_NONBLOCK: opening a pipe that has no writer must not hang. Pipes are refused below.
  const Fd fd(open_retrying(path, O_RDONLY | O_NOCTTY | O_NONBLOCK));
  if (fd.get() < 0) return file_error("reading", path, errno);
  return read_open_file(fd.get(), path, limit);
}

Result<std::string> read_open_file(int fd, const std::string& path, uint64_t limit) {
  struct stat st {};
  if (::fstat(fd, &st) != 0) return file_error("reading", path, errno);
  if (S_ISDIR(st.st_mode)) return input_error("reading {}: it is a directory", path);
  if (!S_ISREG(st.st_mode)) return input_error("reading {}: it is not a regular file", path);
  KW_TRY(check_opened(fd, path));
  const auto too_big = [&](uint64_t size) {
    return input_error("reading {}: it holds {}, more than the {} allowed", path, human_bytes(size),
                       human_bytes(limit));
  };
  if (static_cast<uint64_t>(st.st_size) > limit) return too_big(static_cast<uint64_t>(st.st_size));
  std::string bytes;
  bytes.reserve(static_cast<size_t>(st.st_size));
  std::string chunk(std::clamp<size_t>(static_cast<size_t>(st.st_size) + 1, 4096, 1 << 20), '\0');
  for (;;) {
    const ssize_t n = ::read(fd, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return file_error("reading", path, errno);
    if (n == 0) return bytes;
    bytes.append(chunk.data(), static_cast<size_t>(n));
    if (bytes.size() > limit) return too_big(bytes.size());
  }
}

Status write_file(const std::string& path, std::string_view bytes, Sync sync) {
  const std::string target = resolved(path);
  struct stat st {};
  if (::stat(target.c_str(), &st) == 0) {
    if (S_ISDIR(st.st_mode)) return input_error("writing {}: it is a directory", path);
    if (!S_ISREG(st.st_mode))
      return write_in_place(target, bytes);  // a device or pipe is not replaced
  }
  const std::string temporary = temporary_name(target);
  Fd fd(open_retrying(temporary, O_WRONLY | O_CREAT | O_EXCL, kOwnFileMode));
  if (fd.get() < 0) return file_error("writing", path, errno);
  if (Status ours = check_opened(fd.get(), path); !ours) {
    ::unlink(temporary.c_str());
    return ours;
  }
  int code = write_all(fd.get(), bytes);
  if (code == 0 && sync == Sync::Yes && ::fsync(fd.get()) != 0 && errno != EINVAL) code = errno;
  if (fd.close() != 0 && code == 0) code = errno;
  if (code == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) code = errno;
  if (code == 0) return Done{};
  ::unlink(temporary.c_str());
  return file_error("writing", path, code);
}

Status sync_file(const std::string& path) {
  const Fd fd(open_retrying(path, O_RDONLY | O_NOCTTY));
  const bool synced = fd.get() >= 0 && (::fdatasync(fd.get()) == 0 || errno == EINVAL);
  if (!synced) return file_error("writing", path, errno);
  return Done{};
}

bool exists(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0;
}

bool is_directory(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}

uint64_t file_size(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 ? static_cast<uint64_t>(st.st_size) : 0;
}

uint64_t free_space(const std::string& path) {
  struct statvfs st {};
  return ::statvfs(path.c_str(), &st) == 0 ? uint64_t{st.f_bavail} * st.f_frsize : 0;
}

Status make_directories(const std::string& path) {
  if (path.empty()) return input_error("creating a folder: the name is empty");
  for (size_t at = 0; at != std::string::npos;) {
    at = path.find('/', at + 1);
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), kOwnFolderMode) == 0) continue;
    const int failed = errno;  // the question below changes errno
    struct stat st {};
    const bool there = ::stat(part.c_str(), &st) == 0;
    if (there && S_ISDIR(st.st_mode)) continue;
    return file_error("creating folder", part, there ? ENOTDIR : failed);
  }
  return Done{};
}

Status remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return file_error("removing", path, errno);
  return Done{};
}

std::vector<std::string> list_directory(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> glob(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return paths;
}

std::string env(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? hidden_key(name) : value;
}

std::string env_path(const char* name) {
  std::string value = env(name);
  return value.starts_with("/") ? value : "";
}

std::vector<std::string> env_paths(const char* name) {
  std::vector<std::string> paths = split(env(name), ':');
  std::erase_if(paths, [](const std::string& path) { return !path.starts_with("/"); });
  return paths;
}

std::string find_program(const std::string& name) {
  const auto runnable = [](const std::string& path) {
    return ::access(path.c_str(), X_OK) == 0 && !is_directory(path);
  };
  if (name.find('/') != std::string::npos)
    return name.starts_with("/") && runnable(name) ? name : "";
  std::vector<std::string> folders = env_paths("PATH");
  if (env("PATH").empty()) folders = {"/usr/local/bin", "/usr/bin", "/bin"};
  for (const std::string& folder : folders) {
    const std::string candidate = folder + "/" + name;
    if (!name.empty() && runnable(candidate)) return candidate;
  }
  return "";
}

bool drop_relative_paths() {
  const std::string libraries = env("LD_LIBRARY_PATH");
  for (const char* name : {"PATH", "LD_LIBRARY_PATH"}) {
    const std::string value = env(name), kept = join(env_paths(name), ":");
    if (value == kept) continue;
    // An empty LD_LIBRARY_PATH would mean the working directory. An empty PATH would mean a
    // default.
    if (kept.empty() && name == std::string_view("LD_LIBRARY_PATH"))
      ::unsetenv(name);
    else
      ::setenv(name, kept.empty() ? "/nowhere" : kept.c_str(), 1);
  }
  return env("LD_LIBRARY_PATH") != libraries;
}

void set_own_program(std::string path) { own_program() = std::move(path); }

std::string build_folder() {
  const std::string folder = resolved(KW_BUILD_FOLDER);
  return resolved(self_path()).starts_with(folder + "/") ? folder : "";
}

Result<std::string> worker_program() {
  const std::string named = env("KERNELWRIGHT_WORKER");
  if (named.empty()) return self_path();
  if (named.starts_with("/")) return named;
  return input_error("$KERNELWRIGHT_WORKER is '{}'; it must be an absolute path", named);
}

std::string self_path() {
  if (!own_program().empty()) return own_program();
  char buffer[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", buffer, sizeof(buffer));
  return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : "";
}

std::string data_directory() {
  if (std::string xdg = env_path("XDG_DATA_HOME"); !xdg.empty()) return xdg + "/kernelwright";
  return home_or_nowhere() + "/.local/share/kernelwright";
}

std::string config_directory() {
  if (std::string xdg = env_path("XDG_CONFIG_HOME"); !xdg.empty()) return xdg + "/kernelwright";
  return home_or_nowhere() + "/.config/kernelwright";
}

std::string cache_directory() {
  if (std::string own = env_path("KERNELWRIGHT_CACHE"); !own.empty()) return own;
  if (std::string xdg = env_path("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/kernelwright";
  return home_or_nowhere() + "/.cache/kernelwright";
}

}  // namespace kw::os
