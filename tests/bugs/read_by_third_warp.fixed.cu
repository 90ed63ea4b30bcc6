//! kernelwright 1
//! task    turns
//! input   x: int32[N]
//! output  y: int32[N]
//! when    N % 128 == 0
//! launch  turns grid(N / 128) block(128) args(x, y)
//? dims N=256

// Mended twin of: the warp that writes waits for two of the three warps that read.
__global__ void turns(const int* x, int* y) {
  __shared__ int tile[32];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int* row = x + blockIdx.x * 128;
  int sum = 0;
  if (warp == 3) tile[lane] = row[t];
  __syncthreads();
  if (warp < 3) sum = row[t] + tile[31 - lane];

  if (warp != 9) asm volatile("bar.sync 1, 128;" ::: "memory");
  if (warp == 3) {
    tile[lane] = row[t] * 3;
    sum = tile[lane];
  }
  y[blockIdx.x * 128 + t] = sum;
}
