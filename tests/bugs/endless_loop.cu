//! kernelwright 1
//! task    collatz
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  collatz grid(ceil_div(N, 32)) block(32) args(x, y, N)
//? dims N=32
//? fill x 0..20
//? budget 2000000
//? also output-not-written

// Bug: zero never reaches one.
__global__ void collatz(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = x[i], steps = 0;
  while (v != 1) {  //~ instruction-budget
    v = v % 2 ? 3 * v + 1 : v / 2;  //~ instruction-budget
    ++steps;  //~ instruction-budget
  }
  y[i] = steps;
}
