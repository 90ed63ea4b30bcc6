//! kernelwright 1
//! task    power_steps
//! inout   x: fp32[N]
//! scratch other: fp32[N]
//! scratch arrived: uint32[1] = 0
//! when    N <= 2048
//! launch  power_steps grid(ceil_div(N, 128)) block(128) cooperative args(x, other, arrived, N)

// A grid barrier written by hand: arrive with release, wait with acquire; three rounds of a shift-and-add.
__device__ void meet(unsigned* arrived, unsigned goal) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned seen;
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
    } while (seen < goal);
  }
  __syncthreads();
}

__global__ void power_steps(float* x, float* other, unsigned* arrived, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float *from = x, *to = other;
  for (int round = 1; round <= 4; ++round) {
    if (i < n) to[i] = from[i] + from[(i + round) % n];
    meet(arrived, round * gridDim.x);
    float* swap = from;
    from = to;
    to = swap;
  }
}
