//! kernelwright 1
//! task    checked_copy
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  checked_copy grid(ceil_div(N, 32)) block(32) args(x, y, N)

__global__ void checked_copy(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = x[i];
  assert(v >= -1000 && v <= 1000);
  if (i == 0) printf("first %d of %d: %.2f %s %c%%\n", v, n, v * 0.25, "units", 'x');
  y[i] = v;
}
