// Loaded before everything else into the program under test: kills it, as kill -9 would, at the
// n-th time it changes something below a folder. KW_CUT_FOLDER names the folder, KW_CUT_AT the
// change (from 0), KW_CUT_HOW is "before", "torn" (half of the bytes of a write) or "after".
// KW_CUT_COUNT names a file that gets the number of changes instead.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kMostFiles = 4096;

std::atomic<int> changes{0};
std::array<std::atomic<bool>, kMostFiles> watched{};

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_below(const char* path) {
  const char* folder = setting("KW_CUT_FOLDER");
  return *folder != '\0' && std::strncmp(path, folder, std::strlen(folder)) == 0;
}

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// What happens around one change: `whole` does it, `half` does half of it.
template <typename Whole, typename Half>
auto change(const Whole& whole, const Half& half) {
  const char* at = setting("KW_CUT_AT");
  const bool now = *at != '\0' && changes.fetch_add(1) == std::atoi(at);
  if (*at == '\0') changes.fetch_add(1);
  if (!now) return whole();
  const char* how = setting("KW_CUT_HOW");
  if (std::strcmp(how, "torn") == 0) half();
  if (std::strcmp(how, "after") == 0) whole();
  die();
}

int remember(int fd, const char* path, int flags) {
  if (fd >= 0 && fd < kMostFiles) watched[fd] = (flags & O_ACCMODE) != O_RDONLY && is_below(path);
  return fd;
}

__attribute__((destructor)) void tell() {
  if (const char* path = setting("KW_CUT_COUNT"); *path != '\0' && changes > 0) {
    if (std::FILE* file = std::fopen(path, "w")) {
      std::fprintf(file, "%d", changes.load());
      std::fclose(file);
    }
  }
}

int opened(const char* name, const char* path, int flags, mode_t mode) {
  return remember(next<int(const char*, int, ...)>(name)(path, flags, mode), path, flags);
}

}  // namespace

#define KW_OPEN(name)                                     \
  extern "C" int name(const char* path, int flags, ...) { \
    va_list rest;                                         \
    va_start(rest, flags);                                \
    const mode_t mode = va_arg(rest, mode_t);             \
    va_end(rest);                                         \
    return opened(#name, path, flags, mode);              \
  }
KW_OPEN(open)
KW_OPEN(open64)

extern "C" ssize_t write(int fd, const void* bytes, size_t size) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  if (fd < 0 || fd >= kMostFiles || !watched[fd]) return real(fd, bytes, size);
  return change([&] { return real(fd, bytes, size); }, [&] { real(fd, bytes, size / 2); });
}

extern "C" int rename(const char* from, const char* to) {
  static auto* const real = next<int(const char*, const char*)>("rename");
  if (!is_below(to)) return real(from, to);
  return change([&] { return real(from, to); }, [] {});
}

extern "C" int mkdir(const char* path, mode_t mode) {
  static auto* const real = next<int(const char*, mode_t)>("mkdir");
  if (!is_below(path)) return real(path, mode);
  return change([&] { return real(path, mode); }, [] {});
}
