//! kernelwright 1
//! task    add_one
//! input   x: int32[N, M]
//! output  y: int32[N, M]
//! output  total: int32[]
//! when    true
//! launch  add_one grid(max(1, ceil_div(N * M, 32))) block(32) args(x, y, total, N * M)

__global__ void add_one(const int* x, int* y, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) *total = n;
  if (i < n) y[i] = x[i] + 1;
}
