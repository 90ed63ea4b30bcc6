// Keywords of the CUDA language that clang knows only as attributes.
#pragma once

#define __KERNELWRIGHT_CLANG__ 1
#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#if __has_attribute(grid_constant)
#define __grid_constant__ __attribute__((grid_constant))
#else
#define __grid_constant__
#endif
// CUDA takes `__shared__ alignas(16) float x[4]`; clang takes only the GNU spelling in that place.
template <typename T>
constexpr __SIZE_TYPE__ kw_alignment() {
  return __alignof__(T);
}
template <__SIZE_TYPE__ kBytes>
constexpr __SIZE_TYPE__ kw_alignment() {
  return kBytes;
}
#define alignas(...) __attribute__((aligned(kw_alignment<__VA_ARGS__>())))
#define __CUDA_ALIGN__(n) __attribute__((aligned(n)))
#define __nv_pure__ __attribute__((pure))
#define __inline_hint__

// Our functions take the source line of the caller: a report must name a line of the kernel module.
#define KW_FN static __inline__ __attribute__((device, always_inline, nodebug, unused))
#define KW_MATH static __inline__ __attribute__((device, nodebug, unused))
// In classes, and after the parameters of a lambda.
#define KW_METHOD __attribute__((device, always_inline, nodebug))
#define KW_LAMBDA __attribute__((always_inline, nodebug))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#ifndef NULL
#define NULL __null
#endif

#define KW_NEEDS_NVRTC "need NVRTC: clang has only the headers of kernelwright"

namespace std {
typedef ::size_t size_t;
typedef ::ptrdiff_t ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
}  // namespace std
namespace cuda {
namespace std = ::std;
}
