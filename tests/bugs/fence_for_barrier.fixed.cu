//! kernelwright 1
//! task    reverse
//! input   x: int32[R, 64]
//! output  y: int32[R, 64]
//! when    true
//! launch  reverse grid(R) block(64) args(x, y)
//? dims R=2

// Mended twin of: a fence orders what one thread does; it does not wait for other threads.
__global__ void reverse(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 64 + t];
  __syncthreads();
  y[blockIdx.x * 64 + t] = s[63 - t];
}
