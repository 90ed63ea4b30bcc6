//! kernelwright 1
//! task    tile_sums
//! input   x: int32[R, C]
//! output  y: int32[R, 64]
//! when    C % 64 == 0
//! launch  tile_sums grid(R) block(64) args(x, y, C)
//? dims R=2 C=256

// Bug: the next tile is loaded while slower warps still read the last one.
__global__ void tile_sums(const int* x, int* y, int cols) {
  __shared__ int tile[64];
  int t = threadIdx.x, sum = 0;
#pragma unroll 1
  for (int c = 0; c < cols; c += 64) {
    tile[t] = x[blockIdx.x * cols + c + t];  //~ shared-race
    __syncthreads();
    for (int k = 0; k <= t; ++k) sum += tile[63 - k];  //~ shared-race
  }
  y[blockIdx.x * 64 + t] = sum;
}
