//! kernelwright 1
//! task    reverse
//! input   x: int32[R, 64]
//! output  y: int32[R, 64]
//! when    true
//! launch  reverse grid(R) block(64) args(x, y)
//? dims R=2

// Mended twin of: the consumer never waits for the stage that the producer committed.
#include <cuda/pipeline>

__global__ void reverse(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&s[t], x + blockIdx.x * 64 + t, sizeof(int), pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  __syncthreads();
  y[blockIdx.x * 64 + t] = s[63 - t];
  pipe.consumer_release();
}
