//! kernelwright 1
//! task    running
//! input   x: int32[N]
//! output  y: int32[N]
//! when    N % 64 == 0 && N >= 128
//! launch  running grid(1) block(64) args(x, y, N)
//? dims N=256
//? also uninitialised-use
//? certain

// Bug: the last round starts no copy, so waiting for all but one group does not wait for its own.
#include <cuda_pipeline.h>

__global__ void running(const int* x, int* y, int n) {
  __shared__ int stage[2][64];
  int t = threadIdx.x, tiles = n / 64;
  __pipeline_memcpy_async(&stage[0][t], x + t, 4);
  __pipeline_commit();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) {
      __pipeline_memcpy_async(&stage[(i + 1) % 2][t], x + (i + 1) * 64 + t, 4);
      __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    y[i * 64 + t] = stage[i % 2][t] * 2;  //~ missing-copy-wait
  }
}
