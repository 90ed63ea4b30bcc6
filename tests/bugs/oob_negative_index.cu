//! kernelwright 1
//! task    difference
//! input   x: fp32[N]
//! output  y: fp32[N]
//! when    true
//! launch  difference grid(ceil_div(N, 32)) block(32) args(x, y, N)
//? dims N=50

// Bug: the first element looks at its left neighbour too.
__global__ void difference(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float left = 0.0f;
  left = x[i - 1];  //~ out-of-bounds-global
  y[i] = x[i] - left;
}
