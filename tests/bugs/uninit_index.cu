//! kernelwright 1
//! task    look_up
//! input   x: fp32[64]
//! input   on: bool[N]
//! output  y: fp32[N]
//! when    true
//! launch  look_up grid(ceil_div(N, 64)) block(64) args(x, on, y, N)
//? dims N=100
//? also out-of-bounds-global invalid-address

// Bug: an index is stored only when the flag is set, and used always.
__global__ void look_up(const float* x, const bool* on, float* y, int n) {
  __shared__ int at[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (i < n && on[i]) at[t] = (t * 7) % 64;
  __syncthreads();
  if (i < n) {
    float v = x[at[t]];  //~ uninitialised-use
    y[i] = v;
  }
}
