//! kernelwright 1
//! task    lookup
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  lookup grid(ceil_div(N, 32)) block(32) args(x, y, N)
//? dims N=40
//? fill x 0..4
//? also output-not-written

// Bug: the fourth case exists after all.
__global__ void lookup(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = x[i];
  if (v > 3) {
    __trap();  //~ trap
  }
  y[i] = v * v;
}
