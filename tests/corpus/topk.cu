//! kernelwright 1
//! task    topk
//! input   x: fp32[R, C]
//! output  value: fp32[R, K]
//! output  index: int32[R, K]
//! when    K <= C && C <= 4096
//! launch  topk grid(R) block(128) shared(4 * C) args(x, value, index, C, K)

// K rounds; each finds the best element left (lowest index on ties) and removes it.
__device__ unsigned long long key_of(float v, int at) {
  unsigned bits = __float_as_uint(v);
  bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return (unsigned long long)bits << 32 | (0xffffffffu - (unsigned)at);
}

__global__ void topk(const float* x, float* value, int* index, int cols, int k) {
  extern __shared__ float row[];
  __shared__ unsigned long long bests[4];
  const float removed = __int_as_float(0xff800000);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) row[c] = x[(size_t)blockIdx.x * cols + c];
  __syncthreads();
  for (int round = 0; round < k; ++round) {
    unsigned long long best = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
      unsigned long long key = key_of(row[c], c);
      best = key > best ? key : best;
    }
    for (int step = 16; step > 0; step /= 2) {
      unsigned long long other = __shfl_xor_sync(0xffffffffu, best, step);
      best = other > best ? other : best;
    }
    if (threadIdx.x % 32 == 0) bests[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < 4; ++w) best = bests[w] > best ? bests[w] : best;
      int at = (int)(0xffffffffu - (unsigned)best);
      value[(size_t)blockIdx.x * k + round] = row[at];
      index[(size_t)blockIdx.x * k + round] = at;
      row[at] = removed;
    }
    __syncthreads();
  }
}
