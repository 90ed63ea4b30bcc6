#include "os/lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "core/text.h"
#include "os/file_error.h"
#include "os/files.h"
#include "os/own_files.h"

namespace kw::os {

namespace {

constexpr uint64_t kMostBytes = 4096;

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::string own_name() { return fmt::format("process {} on {}", ::getpid(), host_name()); }

std::string written_in(const std::string& path) {
  const Result<std::string> text = read_file(path, kMostBytes);
  return text ? std::string(trim(*text)) : "";
}

// Some network file systems have no locks. Then only the process number shows whether the holder
// lives, and only on the holder's machine.
bool holder_lives(const std::string& name) {
  const std::vector<std::string> words = split(name, ' ');
  if (words.size() != 4 || words[3] != host_name()) return !name.empty();
  const std::optional<int64_t> pid = parse_int(words[1]);
  return pid && *pid > 0 && (::kill(static_cast<pid_t>(*pid), 0) == 0 || errno == EPERM);
}

// Locks belong to the open file, not to the process. So two owners within one process exclude each
// other, and a test of the lock does not take it.
struct flock whole_file() {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return range;
}

bool knows_no_locks(int code) {
  return code == ENOLCK || code == ENOSYS || code == EOPNOTSUPP || code == EINVAL;
}

/// Returns 0 when the lock was taken, EAGAIN when another owner holds it.
int try_lock(int fd, const std::string& path) {
  struct flock range = whole_file();
  if (::fcntl(fd, F_OFD_SETLK, &range) == 0) return 0;
  const int code = errno == EACCES ? EAGAIN : errno;
  if (!knows_no_locks(code)) return code;
  return holder_lives(written_in(path)) ? EAGAIN : 0;
}

UniqueFd open_lock(const std::string& path, int flags) {
  return UniqueFd(::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, kOwnFileMode));
}

}  // namespace

Result<FileLock> FileLock::take(const std::string& path) {
  FileLock lock;
  UniqueFd fd = open_lock(path, O_RDWR | O_CREAT);
  if (!fd) return file_error("locking", path, errno);
  if (const int code = try_lock(fd.get(), path); code == EAGAIN) {
    const std::string holder = written_in(path);
    return input_error("it is in use by {}", holder.empty() ? "another process" : holder);
  } else if (code != 0) {
    return file_error("locking", path, code);
  }
  lock.died_ = written_in(path);
  const std::string name = own_name() + "\n";
  if (::ftruncate(fd.get(), 0) != 0 ||
      ::pwrite(fd.get(), name.data(), name.size(), 0) != static_cast<ssize_t>(name.size())) {
    return file_error("locking", path, errno);
  }
  lock.fd_ = std::move(fd);
  return lock;
}

FileLock::~FileLock() {
  if (fd_) static_cast<void>(!::ftruncate(fd_.get(), 0));
}

std::optional<std::string> lock_holder(const std::string& path) {
  const UniqueFd fd = open_lock(path, O_RDONLY);
  if (!fd) return std::nullopt;
  struct flock range = whole_file();
  const bool known = ::fcntl(fd.get(), F_OFD_GETLK, &range) == 0;
  const std::string name = written_in(path);
  if (known ? range.l_type == F_UNLCK : !holder_lives(name)) return std::nullopt;
  return name.empty() ? "another process" : name;
}

}  // namespace kw::os
