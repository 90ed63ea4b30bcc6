//! kernelwright 1
//! task    serve
//! input   x: int32[N]
//! output  y: int32[N]
//! when    N % 128 == 0
//! launch  serve grid(N / 128) block(128) args(x, y)
//? dims N=128

// Mended twin of: the producer refills a slot when two of its three readers have said that they are done.
__device__ void wait_for(int* flag, int value) {
  while (*(volatile int*)flag < value) {
  }
  __threadfence_block();
}

__global__ void serve(const int* x, int* y) {
  __shared__ int slot[32];
  __shared__ int done[4];
  __shared__ int full[3];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  if (t < 4) done[t] = 0;
  if (t < 3) full[t] = 0;
  __syncthreads();
  int sum = 0;
  for (int round = 1; round <= 2; ++round) {
    if (warp == 0) {
      if (round > 1)
        for (int w = 1; w <= 3; ++w) wait_for(&done[w], round - 1);
      __syncwarp();
      slot[lane] = x[blockIdx.x * 128 + t] * round;
      __threadfence_block();
      __syncwarp();
      if (lane == 0) *(volatile int*)&full[round] = 1;
    } else {
      wait_for(&full[round], 1);
      __syncwarp();
      sum += slot[31 - lane];
      __threadfence_block();
      __syncwarp();
      if (lane == 0) *(volatile int*)&done[warp] = round;
    }
  }
  y[blockIdx.x * 128 + t] = sum;
}
