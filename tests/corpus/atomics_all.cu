//! kernelwright 1
//! task    atomics_all
//! input   x: int32[N]
//! output  y: uint32[12]
//! output  wide: uint64[4]
//! output  sums: fp64[1]
//! output  halves: fp16[2]
//! when    true
//! launch  clear grid(1) block(32) args(y, wide, sums, halves)
//! launch  atomics_all grid(ceil_div(N, 64)) block(64) args(x, y, wide, sums, halves, N)
#include <cuda_fp16.h>

__global__ void clear(unsigned* y, unsigned long long* wide, double* sums, __half* halves) {
  int t = threadIdx.x;
  if (t < 12) y[t] = t == 3 || t == 5 ? 0xffffffffu : 0u;
  if (t < 4) wide[t] = t == 1 ? ~0ull : 0ull;
  if (t == 0) sums[0] = 0.0;
  if (t < 2) halves[t] = __float2half(0.0f);
}

__global__ void atomics_all(const int* x, unsigned* y, unsigned long long* wide, double* sums, __half* halves, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = (unsigned)x[i];
  atomicAdd(&y[0], v);
  atomicSub(&y[1], v);
  atomicMax(&y[2], v);
  atomicMin(&y[3], v);
  atomicOr(&y[4], v);
  atomicAnd(&y[5], v | 0xff000000u);
  atomicXor(&y[6], v);
  atomicInc(&y[7], 99u);
  atomicDec(&y[8], 1000u);
  atomicMax((int*)&y[9], (int)v);
  unsigned old = atomicAdd(&y[10], 0u), seen;
  do {  // saturating add by compare and swap
    seen = old;
    old = atomicCAS(&y[10], seen, min(seen + (v & 15u), 5000u));
  } while (old != seen);
  atomicExch(&y[11], 42u);
  atomicAdd(&wide[0], (unsigned long long)v * 65537ull);
  atomicMin(&wide[1], (unsigned long long)v << 20);
  atomicMax(&wide[2], (unsigned long long)v << 20);
  atomicXor(&wide[3], (unsigned long long)v << (i % 32));
  atomicAdd(&sums[0], (double)(int)v);
  atomicAdd(reinterpret_cast<__half2*>(halves), __floats2half2_rn(1.0f, 0.5f));
}
