//! kernelwright 1
//! task    windowed_sum
//! input   x: fp32[N]
//! output  y: fp32[N]
//! when    N % 64 == 0
//! launch  windowed_sum grid(1) block(64) args(x, y, N)

// Three stages of background copies with one barrier per tile: the stage written next is the one read two tiles ago.
__device__ void fetch(float* to, const float* from) {
  unsigned address = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address), "l"(from) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
}

__global__ void windowed_sum(const float* x, float* y, int n) {
  __shared__ float stage[3][64];
  int t = threadIdx.x, tiles = n / 64;
  fetch(&stage[0][t], x + t);
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) {
      fetch(&stage[(i + 1) % 3][t], x + (i + 1) * 64 + t);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    const float* now = stage[i % 3];
    y[i * 64 + t] = now[t] + now[(t + 1) % 64] + now[63 - t];
  }
}
