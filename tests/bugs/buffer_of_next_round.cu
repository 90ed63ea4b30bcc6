//! kernelwright 1
//! task    reverse_tiles
//! input   x: int32[N]
//! output  y: int32[N]
//! when    N % 64 == 0
//! launch  reverse_tiles grid(1) block(64) args(x, y, N)
//? dims N=256
//? also uninitialised-use missing-syncwarp
//? certain

// Bug: each round reads the buffer that it fills for the next round.
__global__ void reverse_tiles(const int* x, int* y, int n) {
  __shared__ int buffer[2][64];
  int t = threadIdx.x;
  buffer[0][t] = x[t];
  __syncthreads();
  for (int i = 0; i < n / 64; ++i) {
    if ((i + 1) * 64 < n) buffer[(i + 1) % 2][t] = x[(i + 1) * 64 + t];  //~ shared-race
    y[i * 64 + t] = buffer[(i + 1) % 2][63 - t];  //~ shared-race
    __syncthreads();
  }
}
