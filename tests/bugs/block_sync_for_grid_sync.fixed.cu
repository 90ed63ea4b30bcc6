//! kernelwright 1
//! task    smooth
//! input   x: fp32[N]
//! output  y: fp32[N]
//! scratch once: fp32[N]
//! when    N % 64 == 0 && N <= 1024
//! launch  smooth grid(N / 64) block(64) cooperative args(x, once, y, N)
//? dims N=256

// Mended twin of: the group of the block synchronises where the whole grid must.
#include <cooperative_groups.h>

__global__ void smooth(const float* x, float* once, float* y, int n) {
  namespace cg = cooperative_groups;
  auto group = cg::this_grid();
  int i = blockIdx.x * 64 + threadIdx.x;
  once[i] = x[i] * 0.5f;
  group.sync();
  y[i] = once[i] + once[(i + 1) % n];
}
