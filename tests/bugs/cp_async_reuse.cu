//! kernelwright 1
//! task    stream
//! input   x: fp32[N]
//! output  y: fp32[N]
//! when    N % 64 == 0
//! launch  stream grid(1) block(64) args(x, y, N)
//? dims N=320
//? also missing-syncwarp

// Bug: with two stages and one barrier, the copy for the next tile lands in the stage that slower warps still read.
constexpr int kStages = 2;

__device__ void fetch(float* to, const float* from) {
  unsigned address = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address), "l"(from) : "memory");  //~ shared-race
  asm volatile("cp.async.commit_group;" ::: "memory");
}

__global__ void stream(const float* x, float* y, int n) {
  __shared__ float stage[kStages][64];
  int t = threadIdx.x, tiles = n / 64;
  fetch(&stage[0][t], x + t);
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) {
      fetch(&stage[(i + 1) % kStages][t], x + (i + 1) * 64 + t);
      asm volatile("cp.async.wait_group 1;" ::: "memory");  //~ shared-race
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");  //~ shared-race
    }
    __syncthreads();
    y[i * 64 + t] = stage[i % kStages][63 - t];  //~ shared-race
  }
}
