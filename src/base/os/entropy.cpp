#include "os/entropy.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace kw::os {

Result<uint64_t> random_bits() {
  uint64_t bits = 0;
  // Requests of up to 256 bytes are never cut short once the system has entropy. Before that a
  // signal may interrupt them.
  while (::getrandom(&bits, sizeof(bits), 0) != static_cast<ssize_t>(sizeof(bits))) {
    if (errno != EINTR)
      return environment_error(std::string("the system gives no random numbers: ") +
                               std::strerror(errno));
  }
  return bits;
}

}  // namespace kw::os
