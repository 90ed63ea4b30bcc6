//! kernelwright 1
//! task    radix_sort
//! input   x: uint32[N]
//! output  y: uint32[N]
//! scratch other: uint32[N]
//! tune    BITS in 4, 8
//! let     passes = 32 / BITS
//! when    N <= 4096
//! launch  copy grid(ceil_div(N, 128)) block(128) args(x, pick(passes % 2, y, other), N)
//! repeat  p in 0..passes
//! launch  one_pass grid(1) block(256) args(pick((passes - p) % 2, y, other), pick((passes - p) % 2, other, y), N, p * BITS)

// Least significant digit first. One block per pass keeps it stable: each thread owns a run of the input.
__global__ void copy(const unsigned* x, unsigned* to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = x[i];
}

__global__ void one_pass(const unsigned* from, unsigned* to, int n, int shift) {
  constexpr int kDigits = 1 << BITS;
  __shared__ int counts[kDigits];
  __shared__ int starts[kDigits];
  for (int d = threadIdx.x; d < kDigits; d += blockDim.x) counts[d] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&counts[(from[i] >> shift) % kDigits], 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int d = 0; d < kDigits; ++d) {
      starts[d] = sum;
      sum += counts[d];
    }
  }
  __syncthreads();
  // A thread moves the elements of its digit, in order.
  for (int d = threadIdx.x; d < kDigits; d += blockDim.x) {
    int at = starts[d];
    for (int i = 0; i < n; ++i) {
      unsigned v = from[i];
      if ((v >> shift) % kDigits == (unsigned)d) to[at++] = v;
    }
  }
}
