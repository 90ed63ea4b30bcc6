//! kernelwright 1
//! task    sum_of_squares
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  sum_of_squares grid(ceil_div(N, 32)) block(32) args(x, y, N)
//? dims N=40

// Mended twin of: only the elements below the value are filled, and all are added.
__noinline__ __device__ void fill(int* to, int count, int v) {
  for (int k = 0; k < count; ++k) to[k] = k * v;
}

__global__ void sum_of_squares(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int squares[16];
  int count = i % 16;
  fill(squares, count, x[i]);
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < count; ++k) sum += squares[k];
  y[i] = sum;
}
