//! kernelwright 1
//! task    rotate
//! input   x: int32[R, 32]
//! output  y: int32[R, 32]
//! when    true
//! launch  rotate grid(R) block(32) args(x, y)
//? dims R=2

// Mended twin of: what a neighbour reads is overwritten after a shuffle, which does not wait for loads.
__global__ void rotate(const int* x, int* y) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 32 + t];
  __syncwarp();
  int left = s[(t + 31) % 32];
  int sum = left + __shfl_xor_sync(0xffffffffu, left, 1);
  __syncwarp();
  s[t] = sum;
  __syncwarp();
  y[blockIdx.x * 32 + t] = s[31 - t];
}
