//! kernelwright 1
//! task    neighbour_sum
//! input   x: int32[R, 32]
//! output  y: int32[R, 32]
//! when    true
//! launch  neighbour_sum grid(R) block(32) args(x, y)
//? dims R=2

// Bug: only even lanes load their slot; the value travels through a shuffle before it is stored.
__global__ void neighbour_sum(const int* x, int* y) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t % 2 == 0) s[t] = x[blockIdx.x * 32 + t];
  __syncwarp();
  int v = __shfl_xor_sync(0xffffffffu, s[t], 1);
  int sum = v + t;
  y[blockIdx.x * 32 + t] = sum;  //~ uninitialised-use
}
