//! kernelwright 1
//! task    diffuse
//! input   x: fp32[N]
//! output  y: fp32[N]
//! scratch a: fp32[N]
//! scratch b: fp32[N]
//! scratch count: uint32[1] = 0
//! when    N % 64 == 0 && N <= 1024
//! launch  diffuse grid(N / 64) block(64) args(x, a, b, count, y, N)
//? dims N=256
//? certain

// Bug: the barrier of the grid releases but does not acquire, so later rounds may read cached values of earlier ones.
__device__ void all_blocks(unsigned* count, unsigned round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
    while (*(volatile unsigned*)count < gridDim.x * round) {
    }
  }
  __syncthreads();
}

__global__ void diffuse(const float* x, float* a, float* b, unsigned* count, float* y, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  a[i] = x[i];
  for (unsigned round = 1; round <= 4; ++round) {
    all_blocks(count, round);
    float* from = round % 2 != 0 ? a : b;
    float* to = round % 2 != 0 ? b : a;
    to[i] = 0.5f * (from[(i + 1) % n] + from[(i + n - 1) % n]);  //~ global-race-between-blocks
  }
  y[i] = a[i];
}
