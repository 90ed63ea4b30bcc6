//! kernelwright 1
//! task    gather
//! input   x: fp32[V]
//! input   at: int32[N]
//! output  y: fp32[N]
//! when    true
//! launch  gather grid(ceil_div(N, 64)) block(64) args(x, at, y, V, N)
//? dims V=10 N=200
//? fill at 0..10

// Bug: indices come from the data and are used unchecked; some are one past the table.
__global__ void gather(const float* x, const int* at, float* y, int values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[at[i]];  //~ out-of-bounds-global
}
