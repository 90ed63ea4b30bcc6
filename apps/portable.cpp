// Symbols that a static libstdc++ would import from a glibc newer than 2.34. They are part of the program itself, so
// that the binary runs on older systems.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

// Behind std::random_device, which kernelwright never uses but libstdc++'s string code drags in (GLIBC_2.36).
extern "C" uint32_t arc4random() {
  uint32_t value = 0;
  if (::getrandom(&value, sizeof(value), 0) != static_cast<ssize_t>(sizeof(value))) std::abort();
  return value;
}
