// memcpy, memmove and memset are in kernelwright_device.h.
#pragma once
#include <kernelwright_device.h>

namespace std {
using ::memcpy;
using ::memmove;
using ::memset;
}  // namespace std
