//! kernelwright 1
//! task    plus_one
//! input   x: int32[R, C]
//! output  y: int32[R, C]
//! when    true
//! launch  plus_one grid(ceil_div(C, 64), R) block(64) args(x, y, C)
//? dims R=150 C=300
//? also output-not-written global-race-between-blocks

// Bug: the index is kept in 16 bits, and 150 * 300 does not fit.
using Index = short;

__global__ void plus_one(const int* x, int* y, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  Index at = (Index)(blockIdx.y * cols + c);
  int v = x[at];  //~ out-of-bounds-global
  y[at] = v + 1;
}
