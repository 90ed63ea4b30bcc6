//! kernelwright 1
//! task    shifted
//! input   x: fp32[N]
//! output  y: fp32[N]
//! scratch once: fp32[N]
//! when    N <= 4096
//! launch  shifted grid(ceil_div(N, 64)) block(64) cooperative args(x, once, y, N)
//? dims N=256
//? expect deadlock
//? budget 20000000
//? also output-not-written instruction-budget

// Bug: one block leaves before the grid-wide barrier that all must reach.
#include <cooperative_groups.h>

__global__ void shifted(const float* x, float* once, float* y, int n) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) once[i] = 2.0f * x[i];
  bool leaves = blockIdx.x == 2;
  if (leaves) return;
  grid.sync();
  if (i < n) y[i] = once[(i + 64) % n];
}
