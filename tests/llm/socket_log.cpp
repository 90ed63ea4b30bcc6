// Loaded before a program (LD_PRELOAD): writes every network address it connects to into the file
// named by KW_SOCKET_LOG. Unix sockets are nobody's business.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

void note(const sockaddr* address) {
  const char* path = std::getenv("KW_SOCKET_LOG");
  if (path == nullptr || address == nullptr) return;
  char host[INET6_ADDRSTRLEN] = "?";
  int port = 0;
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    ::inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
    port = ntohs(v4->sin_port);
  } else if (address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
    port = ntohs(v6->sin6_port);
  } else {
    return;
  }
  char line[128];
  const int length = std::snprintf(line, sizeof(line), "%s %d\n", host, port);
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0 || ::write(fd, line, static_cast<size_t>(length)) != length) std::abort();
  ::close(fd);
}

}  // namespace

extern "C" int connect(int fd, const sockaddr* address, socklen_t length) {
  using Connect = int (*)(int, const sockaddr*, socklen_t);
  static const auto real = reinterpret_cast<Connect>(::dlsym(RTLD_NEXT, "connect"));
  note(address);
  return real(fd, address, length);
}

extern "C" ssize_t sendto(int fd, const void* bytes, size_t size, int flags,
                          const sockaddr* address, socklen_t length) {
  using SendTo = ssize_t (*)(int, const void*, size_t, int, const sockaddr*, socklen_t);
  static const auto real = reinterpret_cast<SendTo>(::dlsym(RTLD_NEXT, "sendto"));
  note(address);
  return real(fd, bytes, size, flags, address, length);
}
