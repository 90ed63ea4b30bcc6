//! kernelwright 1
//! task    three_point
//! input   x: fp32[N]
//! output  y: fp32[N]
//! when    true
//! launch  three_point grid(ceil_div(N, 64)) block(64) args(x, y, N)
//? dims N=200

// Bug: room for only one of the two halo elements.
constexpr int kTile = 65;

__global__ void three_point(const float* x, float* y, int n) {
  __shared__ float tile[kTile];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  tile[t + 1] = i < n ? x[i] : 0.0f;
  if (t == 0) tile[0] = i > 0 ? x[i - 1] : 0.0f;
  if (t == 63) {
    tile[t + 2] = i + 1 < n ? x[i + 1] : 0.0f;  //~ out-of-bounds-shared
  }
  __syncthreads();
  if (i < n) y[i] = tile[t] + tile[t + 1] + tile[t + 2];
}
