//! kernelwright 1
//! task    small_atomics
//! input   x: int32[N]
//! output  h: fp16[2]
//! output  b: bf16[2]
//! output  c: uint16[4]
//! when    true
//! launch  clear grid(1) block(4) args(h, b, c)
//! launch  small_atomics grid(ceil_div(N, 64)) block(64) args(x, h, b, c, N)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void clear(__half* h, __nv_bfloat16* b, unsigned short* c) {
  int t = threadIdx.x;
  c[t] = 0;
  if (t < 2) {
    h[t] = __float2half(0.0f);
    b[t] = __float2bfloat16(0.0f);
  }
}

// Targets before sm_90 have no instruction for this.
__device__ void add(__nv_bfloat16* to, float v) {
#if __CUDA_ARCH__ >= 900
  atomicAdd(to, __float2bfloat16(v));
#else
  unsigned short* bits = reinterpret_cast<unsigned short*>(to);
  unsigned short seen = atomicCAS(bits, (unsigned short)0, (unsigned short)0), old;
  do {
    old = seen;
    float sum = __bfloat162float(__ushort_as_bfloat16(old)) + v;
    seen = atomicCAS(bits, old, __bfloat16_as_ushort(__float2bfloat16(sum)));
  } while (seen != old);
#endif
}

// Sums stay small whole numbers, exact in both types and in any order.
__global__ void small_atomics(const int* x, __half* h, __nv_bfloat16* b, unsigned short* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = x[i] & 1;
  if (i < 200) atomicAdd(&h[at], __float2half(2.0f));
  if (i < 100) add(&b[at], 1.0f);
  unsigned short* counter = &c[x[i] & 3];
  unsigned short seen = atomicCAS(counter, (unsigned short)0, (unsigned short)0), old;
  do {
    old = seen;
    seen = atomicCAS(counter, old, (unsigned short)(old + 1));
  } while (seen != old);
}
