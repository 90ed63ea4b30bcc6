// Loaded before everything else into the program under test: one call of one family fails, or the
// process is killed there. Families and ways are in families.py; the settings:
//   KW_FAULT_FAMILY  which calls are counted     KW_FAULT_AT    the call that fails, from 0
//   KW_FAULT_HOW     an errno, or a word below   KW_FAULT_LAST  "1": and every later one
//   KW_FAULT_COUNT   a file that gets the number of calls of every family, instead of a fault
//   KW_FAULT_LOG     a file that gets a line when the fault has happened
// Only the program itself is struck, not what it starts. Words: short, kill, torn (half of a write,
// then kill), TERM, INT, kill-child, stop-child, forward and backward (the clock jumps).
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

namespace {

enum Family {
  Open,
  Read,
  Write,
  Receive,
  Send,
  Sync,
  Rename,
  Mkdir,
  Unlink,
  Fork,
  Pipe,
  Thread,
  Map,
  Memory,
  Lock,
  Stat,
  Connect,
  Clock,
  Entropy,
  kFamilies
};
constexpr const char* kNames[] = {
    "open", "read",   "write", "receive", "send", "sync", "rename",  "mkdir", "unlink", "fork",
    "pipe", "thread", "map",   "memory",  "lock", "stat", "connect", "clock", "entropy"};
struct Named {
  const char* name;
  int code;
};
constexpr Named kCodes[] = {{"EIO", EIO},
                            {"ENOSPC", ENOSPC},
                            {"EMFILE", EMFILE},
                            {"ENFILE", ENFILE},
                            {"EACCES", EACCES},
                            {"EROFS", EROFS},
                            {"ENOMEM", ENOMEM},
                            {"EINTR", EINTR},
                            {"EAGAIN", EAGAIN},
                            {"EPIPE", EPIPE},
                            {"ECONNREFUSED", ECONNREFUSED},
                            {"EDQUOT", EDQUOT},
                            {"ECONNRESET", ECONNRESET},
                            {"ETIMEDOUT", ETIMEDOUT},
                            {"ENOLCK", ENOLCK},
                            {"EBUSY", EBUSY}};
constexpr size_t kLargeBlock = 64 << 10;  // smaller ones never fail

std::atomic<int> counts[kFamilies];
std::atomic<bool> active{false};
std::atomic<pid_t> last_child{0};
std::atomic<int> jumped{0};
std::atomic<bool> child_waits{false};  // for its fault: it must have become its own program first
int family = -1, at = -1, code = 0;
bool lasting = false;
char how[32], log_path[512], count_path[512];

void set(char* to, size_t size, const char* name) {
  const char* value = getenv(name);
  if (value != nullptr) snprintf(to, size, "%s", value);
}

void put(const char* path, const char* text) {
  const int fd = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  syscall(SYS_write, fd, text, strlen(text));
  syscall(SYS_close, fd);
}

bool is(const char* word) { return strcmp(how, word) == 0; }

void strike() {
  if (is("kill")) kill(getpid(), SIGKILL);
  if (is("TERM")) kill(getpid(), SIGTERM);
  if (is("INT")) kill(getpid(), SIGINT);
  if (is("kill-child") && last_child > 0) kill(last_child, SIGKILL);
  if (is("stop-child") && last_child > 0) kill(last_child, SIGSTOP);
}

/// Whether this call is the one; `errno` is set where it shall fail.
bool now(Family which) {
  if (!active) return false;
  const int saved = errno;
  const int number = counts[which].fetch_add(1);
  if (family != which || number < at || (number > at && !lasting)) return false;
  if (number == at && *log_path != '\0') {
    char line[96];
    snprintf(line, sizeof(line), "%s %d %s\n", kNames[which], number, how);
    put(log_path, line);
  }
  if (number == at && which != Fork) strike();
  errno = code != 0 ? code : saved;
  return true;
}

bool fails(Family which) { return now(which) && code != 0; }

template <typename F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

bool is_file(int fd) {
  const int saved = errno;
  struct stat st {};
  const bool file = syscall(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode);
  errno = saved;
  return file;
}

__attribute__((constructor)) void begin() {
  char name[32] = "", number[16] = "-1", last[4] = "";
  set(name, sizeof(name), "KW_FAULT_FAMILY");
  set(number, sizeof(number), "KW_FAULT_AT");
  set(last, sizeof(last), "KW_FAULT_LAST");
  set(how, sizeof(how), "KW_FAULT_HOW");
  set(log_path, sizeof(log_path), "KW_FAULT_LOG");
  set(count_path, sizeof(count_path), "KW_FAULT_COUNT");
  for (int i = 0; i < kFamilies; ++i)
    if (strcmp(name, kNames[i]) == 0) family = i;
  for (const Named& one : kCodes)
    if (is(one.name)) code = one.code;
  at = atoi(number);
  lasting = *last == '1';
  for (const char* one : {"LD_PRELOAD", "KW_FAULT_COUNT"}) unsetenv(one);
  active = true;
}

__attribute__((destructor)) void end() {
  if (!active || *count_path == '\0') return;
  active = false;
  for (int i = 0; i < kFamilies; ++i) {
    char line[64];
    snprintf(line, sizeof(line), "%s %d\n", kNames[i], counts[i].load());
    put(count_path, line);
  }
}

/// A transfer of `size` bytes: `real` does it for that many.
template <typename Real>
ssize_t transfer(Family which, size_t size, const Real& real) {
  if (!now(which)) return real(size);
  if (code != 0) return -1;
  if (is("torn")) {
    real(size / 2);
    kill(getpid(), SIGKILL);
  }
  return real(is("short") && size > 1 ? size / 2 : size);
}

int shifted(clockid_t id, struct timespec* time) {
  if (now(Clock)) jumped = is("forward") ? 1 : is("backward") ? -1 : 0;
  const int rc = static_cast<int>(syscall(SYS_clock_gettime, id, time));
  // Only the clock on the wall can go back; the other one leaps when the machine was stopped.
  if (rc == 0 && jumped > 0) time->tv_sec += 5400;
  if (rc == 0 && jumped < 0 && id == CLOCK_REALTIME) time->tv_sec -= 86400;
  return rc;
}

}  // namespace

#define KW_REAL(result, name, ...) static auto* const real = next<result(__VA_ARGS__)>(#name)
#define KW_FAULT(which, failed, result, name, parameters, arguments) \
  extern "C" result name parameters {                                \
    static auto* const real = next<result parameters>(#name);        \
    if (fails(which)) return failed;                                 \
    return real arguments;                                           \
  }
#define KW_OPEN(name)                                     \
  extern "C" int name(const char* path, int flags, ...) { \
    va_list rest;                                         \
    va_start(rest, flags);                                \
    const mode_t mode = va_arg(rest, mode_t);             \
    va_end(rest);                                         \
    KW_REAL(int, name, const char*, int, ...);            \
    return fails(Open) ? -1 : real(path, flags, mode);    \
  }
#define KW_OPENAT(name)                                           \
  extern "C" int name(int at, const char* path, int flags, ...) { \
    va_list rest;                                                 \
    va_start(rest, flags);                                        \
    const mode_t mode = va_arg(rest, mode_t);                     \
    va_end(rest);                                                 \
    KW_REAL(int, name, int, const char*, int, ...);               \
    return fails(Open) ? -1 : real(at, path, flags, mode);        \
  }
KW_OPEN(open)
KW_OPEN(open64)
KW_OPENAT(openat)
KW_OPENAT(openat64)
KW_FAULT(Open, nullptr, FILE*, fopen64, (const char* a, const char* b), (a, b))

/// What is read: the end of the pipe in which a child reports says that it is its own program now.
ssize_t noticed(ssize_t got) {
  if (got == 0 && child_waits.exchange(false)) strike();
  return got;
}

#define KW_TRANSFER(file, other, name, T)                                                \
  extern "C" ssize_t name(int fd, T bytes, size_t size) {                                \
    KW_REAL(ssize_t, name, int, T, size_t);                                              \
    const Family which = is_file(fd) ? file : other;                                     \
    return transfer(which, size, [&](size_t n) { return noticed(real(fd, bytes, n)); }); \
  }
#define KW_TRANSFER_AT(file, name, T)                                                 \
  extern "C" ssize_t name(int fd, T bytes, size_t size, off_t where) {                \
    KW_REAL(ssize_t, name, int, T, size_t, off_t);                                    \
    return transfer(file, size, [&](size_t n) { return real(fd, bytes, n, where); }); \
  }
#define KW_SOCKET(which, name, T)                                                      \
  extern "C" ssize_t name(int fd, T bytes, size_t size, int flags) {                   \
    KW_REAL(ssize_t, name, int, T, size_t, int);                                       \
    return transfer(which, size, [&](size_t n) { return real(fd, bytes, n, flags); }); \
  }
KW_TRANSFER(Read, Receive, read, void*)
KW_TRANSFER(Write, Send, write, const void*)
KW_TRANSFER_AT(Read, pread, void*)
KW_TRANSFER_AT(Read, pread64, void*)
KW_TRANSFER_AT(Write, pwrite, const void*)
KW_TRANSFER_AT(Write, pwrite64, const void*)
KW_SOCKET(Receive, recv, void*)
KW_SOCKET(Send, send, const void*)
KW_FAULT(Receive, -1, ssize_t, recvmsg, (int a, struct msghdr* b, int c), (a, b, c))
KW_FAULT(Send, -1, ssize_t, sendmsg, (int a, const struct msghdr* b, int c), (a, b, c))
KW_FAULT(Send, -1, ssize_t, writev, (int a, const struct iovec* b, int c), (a, b, c))

KW_FAULT(Sync, -1, int, fsync, (int a), (a))
KW_FAULT(Sync, -1, int, fdatasync, (int a), (a))
KW_FAULT(Write, -1, int, ftruncate, (int a, off_t b), (a, b))
KW_FAULT(Write, -1, int, ftruncate64, (int a, off_t b), (a, b))
KW_FAULT(Rename, -1, int, rename, (const char* a, const char* b), (a, b))
KW_FAULT(Rename, -1, int, link, (const char* a, const char* b), (a, b))
KW_FAULT(Rename, -1, int, symlink, (const char* a, const char* b), (a, b))
KW_FAULT(Mkdir, -1, int, mkdir, (const char* a, mode_t b), (a, b))
KW_FAULT(Mkdir, nullptr, char*, mkdtemp, (char* a), (a))
KW_FAULT(Unlink, -1, int, unlink, (const char* a), (a))
KW_FAULT(Unlink, -1, int, unlinkat, (int a, const char* b, int c), (a, b, c))
KW_FAULT(Unlink, -1, int, rmdir, (const char* a), (a))
KW_FAULT(Pipe, -1, int, pipe2, (int* a, int b), (a, b))
KW_FAULT(Pipe, -1, int, socketpair, (int a, int b, int c, int* d), (a, b, c, d))
KW_FAULT(Pipe, -1, int, socket, (int a, int b, int c), (a, b, c))
KW_FAULT(Pipe, -1, int, eventfd, (unsigned a, int b), (a, b))
KW_FAULT(Pipe, -1, int, memfd_create, (const char* a, unsigned b), (a, b))
KW_FAULT(Thread, code, int, pthread_create,
         (pthread_t * a, const pthread_attr_t* b, void* (*c)(void*), void* d), (a, b, c, d))
KW_FAULT(Map, MAP_FAILED, void*, mmap, (void* a, size_t b, int c, int d, int e, off_t f),
         (a, b, c, d, e, f))
KW_FAULT(Map, MAP_FAILED, void*, mmap64, (void* a, size_t b, int c, int d, int e, off_t f),
         (a, b, c, d, e, f))
KW_FAULT(Lock, -1, int, flock, (int a, int b), (a, b))
KW_FAULT(Stat, -1, int, stat, (const char* a, struct stat* b), (a, b))
KW_FAULT(Stat, -1, int, lstat, (const char* a, struct stat* b), (a, b))
KW_FAULT(Stat, -1, int, fstat, (int a, struct stat* b), (a, b))
KW_FAULT(Connect, -1, int, connect, (int a, const struct sockaddr* b, socklen_t c), (a, b, c))
KW_FAULT(Entropy, -1, ssize_t, getrandom, (void* a, size_t b, unsigned c), (a, b, c))
KW_FAULT(Entropy, -1, int, getentropy, (void* a, size_t b), (a, b))

#define KW_FCNTL(name)                                                             \
  extern "C" int name(int fd, int what, ...) {                                     \
    va_list rest;                                                                  \
    va_start(rest, what);                                                          \
    void* const argument = va_arg(rest, void*);                                    \
    va_end(rest);                                                                  \
    KW_REAL(int, name, int, int, ...);                                             \
    const bool locks = what == F_SETLK || what == F_SETLKW || what == F_OFD_SETLK; \
    if (locks && fails(Lock)) return -1;                                           \
    if ((what == F_DUPFD || what == F_DUPFD_CLOEXEC) && fails(Pipe)) return -1;    \
    return real(fd, what, argument);                                               \
  }
KW_FCNTL(fcntl)
KW_FCNTL(fcntl64)

extern "C" pid_t fork(void) {
  static auto* const real = next<pid_t()>("fork");
  const bool struck = now(Fork);
  if (struck && code != 0) return -1;
  const pid_t child = real();
  if (child == 0) active = false;
  if (child > 0) last_child = child;
  if (child > 0 && struck) child_waits = true;
  return child;
}

extern "C" void* __libc_malloc(size_t);
extern "C" void* malloc(size_t size) {
  return size >= kLargeBlock && fails(Memory) ? nullptr : __libc_malloc(size);
}

extern "C" int clock_gettime(clockid_t id, struct timespec* time) { return shifted(id, time); }
extern "C" time_t time(time_t* out) {
  struct timespec now {};
  shifted(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}
