//! kernelwright 1
//! task    halve
//! input   x: int32[R, 256]
//! output  y: int32[R]
//! when    true
//! launch  halve grid(R) block(256) args(x, y)
//? dims R=2
//? also missing-syncwarp

// Bug: the barrier is skipped in the last rounds, as if they needed none.
__global__ void halve(const int* x, int* y) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (t < step) {
      s[t] += s[t + step];  //~ shared-race
    }
    if (step > 64) __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
