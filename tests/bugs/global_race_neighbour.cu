//! kernelwright 1
//! task    blur
//! inout   x: fp32[N]
//! scratch old: fp32[N]
//! when    true
//! launch  copy grid(ceil_div(N, 64)) block(64) args(x, old, N)
//! launch  blur grid(ceil_div(N, 64)) block(64) args(x, old, N)
//? dims N=256
//? also global-race-in-block

// Bug: the neighbour is read from the array that is being written, across the edge of the block.
__global__ void copy(const float* x, float* old, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) old[i] = x[i];
}

__global__ void blur(float* x, const float* old, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float right = i + 1 < n ? x[i + 1] : 0.0f;  //~ global-race-between-blocks
  x[i] = 0.5f * (old[i] + right);  //~ global-race-between-blocks
}
