//! kernelwright 1
//! task    largest
//! input   x: int32[N, 4]
//! output  y: int32[N]
//! when    true
//! launch  largest grid(ceil_div(N, 32)) block(32) args(x, y, N)
//? dims N=50

// Mended twin of: the helper writes one element more than the caller's array has.
constexpr int kRoom = 5;

__noinline__ __device__ void running(const int* from, int* to, int count) {
  to[0] = from[0];
  for (int k = 1; k < count; ++k) to[k] = max(to[k - 1], from[k]);
  to[count] = to[count - 1];
}

__global__ void largest(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int best[kRoom];
  running(x + 4 * i, best, 4);
  y[i] = best[3];
}
