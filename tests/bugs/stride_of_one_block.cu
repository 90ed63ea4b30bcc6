//! kernelwright 1
//! task    add_to
//! input   x: fp32[N]
//! inout   y: fp32[N]
//! when    true
//! launch  add_to grid(4) block(64) args(x, y, N)
//? dims N=1000
//? certain

// Bug: the stride of the loop is that of one block, so blocks overlap.
__global__ void add_to(const float* x, float* y, int n) {
  int stride = blockDim.x;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += stride) y[i] += x[i];  //~ global-race-between-blocks
}
