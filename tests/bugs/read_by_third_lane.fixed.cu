//! kernelwright 1
//! task    shift
//! input   x: int32[R, 32]
//! output  y: int32[R, 32]
//! when    true
//! launch  shift grid(R) block(32) args(x, y)
//? dims R=2

// Mended twin of: the lane that writes has met two of the lanes that read, not all of them.
__global__ void shift(const int* x, int* y) {
  __shared__ int first;
  int t = threadIdx.x;
  if (t == 0) first = x[blockIdx.x * 32];
  __syncwarp();
  int sum = 0;
  if (t < 8) sum = x[blockIdx.x * 32 + t] + first;
  __syncwarp();
  if (t == 7) first = sum;
  y[blockIdx.x * 32 + t] = sum;
}
