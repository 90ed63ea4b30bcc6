// assert, reported by the device as "assertion failed" with file and line. May be included again
// after NDEBUG changes.
#include <kernelwright_device.h>

#undef assert
#ifdef NDEBUG
#define assert(condition) static_cast<void>(0)
#else
#define assert(condition)             \
  ((condition) ? static_cast<void>(0) \
               : __assertfail(#condition, __FILE__, __LINE__, __func__, sizeof(char)))
#endif
