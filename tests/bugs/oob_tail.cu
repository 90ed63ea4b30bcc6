//! kernelwright 1
//! task    double_it
//! input   x: fp32[N]
//! output  y: fp32[N]
//! when    true
//! launch  double_it grid(ceil_div(N, 64)) block(64) args(x, y, N)
//? dims N=100

// Bug: no guard for the last block.
__global__ void double_it(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2.0f * x[i];  //~ out-of-bounds-global
}
