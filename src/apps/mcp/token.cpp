#include "mcp/token.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/text.h"
#include "os/entropy.h"
#include "os/files.h"

namespace kw::mcp {
namespace {

constexpr size_t kShortestToken = 16;
constexpr size_t kLongestToken = 1024;

Error token_error(const std::string& path, const std::string& why) {
  return input_error("{}: {}", path, why);
}

Result<std::string> write_token(const std::string& path) {
  const std::string token = KW_TRY(new_token());
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return token_error(path, std::strerror(errno));
  const int problem = os::write_all(fd, token + "\n");
  ::close(fd);
  if (problem != 0) return token_error(path, std::strerror(problem));
  return token;
}

}  // namespace

Result<std::string> new_token() {
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:016x}", KW_TRY(os::random_bits()));
  return token;
}

Result<std::string> token_of_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0 && errno == ENOENT) return write_token(path);
  if (fd < 0) return token_error(path, std::strerror(errno));
  struct stat status {};
  char bytes[kLongestToken + 1];
  const bool read_it = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  const ssize_t n = read_it ? ::read(fd, bytes, sizeof(bytes)) : -1;
  ::close(fd);
  if (n < 0) return token_error(path, "not a file that can be read");
  if ((status.st_mode & 077) != 0 || status.st_uid != ::geteuid())
    return token_error(path, "others can read or own it; 'chmod 600' it, or name a new file");
  const std::string token(trim(std::string_view(bytes, static_cast<size_t>(n))));
  const bool plain =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 127; });
  if (token.size() < kShortestToken || token.size() > kLongestToken || !plain)
    return token_error(
        path, fmt::format("a token has {} to {} plain characters", kShortestToken, kLongestToken));
  return token;
}

}  // namespace kw::mcp
