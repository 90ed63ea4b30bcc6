// printf and assert, through the two functions every CUDA device has.
#pragma once

#include <kw/base.h>

extern "C" {
__device__ int vprintf(const char* format, const char* arguments);
__device__ int printf(const char* format, ...);
__device__ __attribute__((noreturn)) void __assertfail(const char* message, const char* file,
                                                       unsigned line, const char* function,
                                                       size_t char_size);
}

// NVRTC has assert without an include.
#include <assert.h>
