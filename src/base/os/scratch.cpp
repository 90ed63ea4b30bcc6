// A killed process cannot remove its temporary folders, so the next one does. Which folders are in
// use? Process numbers do not tell: other containers that share /tmp have numbers of their own. So
// the owner locks the folder itself with flock(), which the kernel frees with the process. A lock
// file in the folder would also work, but the confined programs that write there could remove it.
// Maker and sweeper may meet at a new folder that is not locked yet. The sweeper therefore removes
// a folder only while it holds the lock, and the maker checks that its locked folder is still
// there. Where folders cannot be locked, and for folders of older versions (without
// "locked-" in the name), the age decides.
#include "os/scratch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <new>
#include <utility>

#include "core/text.h"
#include "os/files.h"

namespace kw::os {
namespace {

constexpr std::string_view kStart = "kernelwright-";
constexpr std::string_view kLocked = "locked-";
constexpr int kMostAttempts = 100;
constexpr time_t kOldSeconds = 24 * 3600;

std::string temporary_root() {
  const std::string named = env("TMPDIR");
  return named.empty() ? "/tmp" : named;
}

void remove_folder(const std::string& path) {
  std::error_code ignored;
  try {
    if (!path.empty()) std::filesystem::remove_all(path, ignored);
  } catch (const std::bad_alloc&) {
    // The next process sweeps it.
  }
}

UniqueFd open_folder(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

enum class Lock : uint8_t { Taken, Held, Unknown };

Lock try_lock(int fd) {
  int code = 0;
  do {
    code = ::flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  } while (code == EINTR);
  if (code == 0) return Lock::Taken;
  return code == EWOULDBLOCK ? Lock::Held : Lock::Unknown;
}

bool is_still_at(int fd, const std::string& path) {
  struct stat opened {
  }, named{};
  return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// What follows "kernelwright-KIND-" in the name of a folder of ours.
struct Owner {
  int64_t process = 0;
  bool locks = false;  // folders of older versions are not locked
};

std::optional<Owner> owner_in(std::string_view name) {
  if (!name.starts_with(kStart)) return std::nullopt;
  name.remove_prefix(kStart.size());
  const size_t dash = name.find('-');
  if (dash == 0 || dash == std::string_view::npos) return std::nullopt;
  name.remove_prefix(dash + 1);
  const size_t end = name.find('-');
  const auto process = parse_int(name.substr(0, end));
  if (end == std::string_view::npos || !process || *process <= 0) return std::nullopt;
  return Owner{*process, name.substr(end + 1).starts_with(kLocked)};
}

bool is_old_and_dead(const Owner& owner, time_t changed) {
  const bool dead = ::kill(static_cast<pid_t>(owner.process), 0) != 0 && errno == ESRCH;
  return dead && ::time(nullptr) - changed > kOldSeconds;
}

void sweep_one(const std::string& path, const Owner& owner) {
  const UniqueFd fd = open_folder(path);
  struct stat st {};
  if (!fd || ::fstat(fd.get(), &st) != 0 || st.st_uid != ::geteuid()) return;
  const Lock lock = try_lock(fd.get());
  if (lock == Lock::Held) return;
  if (lock == Lock::Taken && owner.locks) return remove_folder(path);
  if (is_old_and_dead(owner, st.st_mtim.tv_sec)) remove_folder(path);
}

}  // namespace

Result<ScratchFolder> ScratchFolder::make(const std::string& kind) {
  sweep_once();
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    std::string pattern =
        fmt::format("{}/{}{}-{}-{}XXXXXX", temporary_root(), kStart, kind, ::getpid(), kLocked);
    if (::mkdtemp(pattern.data()) == nullptr) {
      return environment_error(
          "no temporary folder can be made in {}: {}; set TMPDIR to a writable one",
          temporary_root(), std::strerror(errno));
    }
    ScratchFolder folder;
    folder.lock_ = open_folder(pattern);
    const int code = folder.lock_ ? 0 : errno;
    if (code != 0 && code != ENOENT) {
      ::rmdir(pattern.c_str());
      return environment_error("the temporary folder {} cannot be opened: {}", pattern,
                               std::strerror(code));
    }
    if (code != 0 || try_lock(folder.lock_.get()) == Lock::Held) continue;  // it is being swept
    if (!is_still_at(folder.lock_.get(), pattern)) continue;
    folder.path_ = pattern;
    return folder;
  }
  return environment_error("temporary folders in {} vanish while they are made", temporary_root());
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")), lock_(std::move(other.lock_)) {}

ScratchFolder& ScratchFolder::operator=(ScratchFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  return *this;
}

ScratchFolder::~ScratchFolder() { remove_folder(path_); }

void ScratchFolder::sweep_once() {
  static std::once_flag swept;
  std::call_once(swept, sweep);
}

void ScratchFolder::sweep() {
  const std::string root = temporary_root();
  for (const std::string& name : list_directory(root)) {
    if (const auto owner = owner_in(name)) sweep_one(root + "/" + name, *owner);
  }
}

}  // namespace kw::os
