//! kernelwright 1
//! task    weights
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  weights grid(ceil_div(N, 32)) block(32) args(x, y, N)
//? dims N=60
//? fill x 0..8

// Bug: eight weights, and an index that reaches eight.
__constant__ int kWeights[8] = {1, 2, 4, 8, 16, 32, 64, 128};

__global__ void weights(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = kWeights[x[i]];  //~ out-of-bounds-global
}
