//! kernelwright 1
//! task    running
//! input   x: int32[N]
//! output  y: int32[N]
//! when    N % 64 == 0 && N >= 192
//! launch  running grid(1) block(64) args(x, y, N)
//? dims N=320
//? also uninitialised-use
//? certain

// Bug: the wait leaves one group too many under way, so the tile that is read may not be there.
#include <cuda_pipeline.h>

__global__ void running(const int* x, int* y, int n) {
  __shared__ int stage[3][64];
  int t = threadIdx.x, tiles = n / 64;
  for (int i = 0; i < 2; ++i) {
    __pipeline_memcpy_async(&stage[i][t], x + i * 64 + t, 4);
    __pipeline_commit();
  }
  for (int i = 0; i < tiles; ++i) {
    if (i + 2 < tiles) __pipeline_memcpy_async(&stage[(i + 2) % 3][t], x + (i + 2) * 64 + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(3);
    y[i * 64 + t] = stage[i % 3][t] * 2;  //~ missing-copy-wait
  }
}
