//! kernelwright 1
//! task    minmax
//! input   x: fp32[N]
//! output  y: fp32[2]
//! scratch low: uint32[1]
//! scratch high: uint32[1]
//! when    true
//! launch  prepare grid(1) block(1) args(low, high)
//! launch  reduce grid(ceil_div(N, 256)) block(256) args(x, low, high, N)
//! launch  finish grid(1) block(1) args(low, high, y)

// Floats as unsigned integers in the same order, so that integer atomics apply.
__device__ unsigned ordered(float v) {
  unsigned bits = __float_as_uint(v);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
__device__ float restored(unsigned key) { return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key); }

__global__ void prepare(unsigned* low, unsigned* high) {
  *low = 0xffffffffu;
  *high = 0u;
}

__global__ void reduce(const float* x, unsigned* low, unsigned* high, int n) {
  __shared__ unsigned block_low, block_high;
  if (threadIdx.x == 0) {
    block_low = 0xffffffffu;
    block_high = 0u;
  }
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned key = ordered(x[i]);
    atomicMin(&block_low, key);
    atomicMax(&block_high, key);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicMin(low, block_low);
    atomicMax(high, block_high);
  }
}

__global__ void finish(const unsigned* low, const unsigned* high, float* y) {
  y[0] = restored(*low);
  y[1] = restored(*high);
}
