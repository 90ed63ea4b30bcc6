#include "gpu/lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "core/text.h"
#include "os/files.h"
#include "os/interrupt.h"

namespace kw::gpu {
namespace {

/// Opens the lock file, or creates it for all users. Two steps: in a sticky folder Linux refuses
/// O_CREAT on another user's file.
int open_lock_file(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  int fd = ::open(path.c_str(), kFlags);
  if (fd >= 0 || errno != ENOENT) return fd;
  fd = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0666);
  if (fd >= 0) {
    ::fchmod(fd, 0666);  // despite the umask: all users share the GPU
    return fd;
  }
  return errno == EEXIST ? ::open(path.c_str(), kFlags) : fd;
}

Result<int> open_somewhere(const std::string& name) {
  std::vector<std::string> folders = {"/run/lock", "/tmp"};
  if (std::string chosen = os::env("KERNELWRIGHT_RUNTIME_DIR"); !chosen.empty()) {
    KW_TRY(os::make_directories(chosen));
    folders = {chosen};
  }
  std::vector<std::string> tried;
  for (const std::string& folder : folders) {
    const std::string path = folder + "/" + name;
    if (const int fd = open_lock_file(path); fd >= 0) return fd;
    tried.push_back(fmt::format("{}: {}", path, std::strerror(errno)));
  }
  return environment_error("the GPU's lock file cannot be opened: " + join(tried, "; "));
}

/// "process 123", or "another process" when the file does not say.
std::string holder(int fd) {
  char text[32] = {};
  const ssize_t got = ::pread(fd, text, sizeof(text) - 1, 0);
  const auto pid = got > 0 ? parse_int(trim(text)) : std::nullopt;
  return pid ? fmt::format("process {}", *pid) : "another process";
}

void sign(int fd) {
  const std::string pid = fmt::format("{}\n", ::getpid());
  // Only information for waiting processes: the lock holds without it.
  if (::ftruncate(fd, 0) == 0 && ::pwrite(fd, pid.data(), pid.size(), 0) < 0) return;
}

}  // namespace

Result<GpuLock> GpuLock::take(const std::string& uuid, double timeout_seconds,
                              const Notice& notice) {
  GpuLock lock(KW_TRY(open_somewhere("kernelwright-" + uuid + ".lock")));
  const auto give_up =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_seconds);
  bool told = false;
  while (::flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return environment_error("the GPU's lock cannot be taken: {}", std::strerror(errno));
    if (os::interrupted()) return environment_error("interrupted while waiting for the GPU");
    if (!told && notice) notice(fmt::format("waiting for {}, used by {}", uuid, holder(lock.fd_)));
    told = true;
    if (std::chrono::steady_clock::now() >= give_up) {
      return environment_error("{} is busy: {} has held it for more than {} s", uuid,
                               holder(lock.fd_), timeout_seconds);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  sign(lock.fd_);
  return lock;
}

GpuLock::GpuLock(GpuLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

GpuLock::~GpuLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace kw::gpu
