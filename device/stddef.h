// size_t and ptrdiff_t are in kernelwright_device.h.
#pragma once
#include <kernelwright_device.h>
#define offsetof(type, member) __builtin_offsetof(type, member)
