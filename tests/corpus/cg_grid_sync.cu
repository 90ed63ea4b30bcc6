//! kernelwright 1
//! task    smooth_twice
//! input   x: fp32[N]
//! output  y: fp32[N]
//! scratch once: fp32[N]
//! when    N <= 65536
//! launch  smooth_twice grid(min(8, ceil_div(N, 64))) block(64) cooperative args(x, once, y, N)
#include <cooperative_groups.h>

__device__ float around(const float* v, int i, int n) {
  return 0.25f * (v[max(i - 1, 0)] + 2.0f * v[i] + v[min(i + 1, n - 1)]);
}

__global__ void smooth_twice(const float* x, float* once, float* y, int n) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) once[i] = around(x, i, n);
  grid.sync();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) y[i] = around(once, i, n);
}
