//! kernelwright 1
//! task    copy
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  copy grid(ceil_div(N, 256)) block(256) args(x, y, N)
//? dims N=300
//? refused bounded to 128 by __launch_bounds__

// Bug: the kernel promises at most 128 threads per block and is launched with 256.
__global__ void __launch_bounds__(128) copy(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
