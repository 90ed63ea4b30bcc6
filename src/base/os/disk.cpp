#include "os/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "os/file_error.h"
#include "os/own_files.h"
#include "os/permissions.h"
#include "os/spawn.h"

namespace kw::os {

namespace {

UniqueFd open_file(const std::string& path, int flags) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, kOwnFileMode);
  } while (fd < 0 && errno == EINTR);
  return UniqueFd(fd);
}

// A rename is durable only after its folder is synced. If the file system cannot sync folders, we
// ignore the failure.
void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  const UniqueFd fd = open_file(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  if (fd) static_cast<void>(::fsync(fd.get()));
}

class RealDisk : public Disk {
 public:
  Status write(const std::string& path, std::string_view bytes, Sync sync) override {
    KW_TRY(write_file(path, bytes, sync));
    if (sync == Sync::Yes) sync_folder_of(path);
    return Done{};
  }

  // The bytes come before the cut, so that a full disk has given all the room before it is freed.
  Status replace_by(const std::string& path, const std::string& spare,
                    std::string_view bytes) override {
    const UniqueFd fd = open_file(spare, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!fd) return file_error("writing", path, errno);
    KW_TRY(check_opened(fd.get(), spare));
    int code = write_all(fd.get(), bytes);
    if (code == 0 && ::ftruncate(fd.get(), static_cast<off_t>(bytes.size())) != 0) code = errno;
    if (code == 0 && ::fsync(fd.get()) != 0 && errno != EINVAL) code = errno;
    if (code == 0 && ::rename(spare.c_str(), path.c_str()) != 0) code = errno;
    if (code != 0) return file_error("writing", path, code);
    sync_folder_of(path);
    return Done{};
  }

  Status append(const std::string& path, std::string_view bytes) override {
    const UniqueFd fd = open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
    struct stat st {};
    if (!fd || ::fstat(fd.get(), &st) != 0) return file_error("writing", path, errno);
    KW_TRY(check_opened(fd.get(), path));
    const int code = write_all(fd.get(), bytes);
    if (code == 0) return Done{};
    // On a full disk, the first half of a line must not stay in front of the next line.
    if (::ftruncate(fd.get(), st.st_size) != 0) return file_error("mending", path, errno);
    return file_error("writing", path, code);
  }

  Status truncate(const std::string& path, uint64_t size) override {
    const UniqueFd fd = open_file(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(size)) != 0)
      return file_error("mending", path, errno);
    return Done{};
  }

  Status make_directories(const std::string& path) override { return os::make_directories(path); }

  Status remove(const std::string& path) override {
    std::error_code code;
    std::filesystem::remove_all(path, code);
    if (code) return file_error("removing", path, code.value());
    return Done{};
  }
};

}  // namespace

Disk& real_disk() {
  static RealDisk disk;
  return disk;
}

}  // namespace kw::os
