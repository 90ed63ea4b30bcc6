//! kernelwright 1
//! task    shift
//! input   x: int32[R, 32]
//! output  y: int32[R, 32]
//! when    true
//! launch  shift grid(R) block(32) args(x, y)
//? dims R=2
//? certain

// Bug: the lane that writes has met two of the lanes that read, not all of them.
__global__ void shift(const int* x, int* y) {
  __shared__ int first;
  int t = threadIdx.x;
  if (t == 0) first = x[blockIdx.x * 32];
  __syncwarp();
  int sum = 0;
  if (t < 8) sum = x[blockIdx.x * 32 + t] + first;  //~ missing-syncwarp
  if (t < 2) __syncwarp(0x3);
  if (t == 7 || t == 0) __syncwarp(0x81);
  if (t == 7) first = sum;  //~ missing-syncwarp
  y[blockIdx.x * 32 + t] = sum;
}
