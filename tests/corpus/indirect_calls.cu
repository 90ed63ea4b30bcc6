//! kernelwright 1
//! task    per_lane_functions
//! input   which: int32[N]
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  per_lane_functions grid(ceil_div(N, 64)) block(64) args(which, x, y, N)

// Every lane calls its own function, some of which loop or call on.
__noinline__ __device__ int square(int v) { return v * v; }
__noinline__ __device__ int spin(int v) {
  int sum = 0;
  for (int k = 0; k < (v & 31); ++k) sum += square(k) - k;
  return sum;
}
__noinline__ __device__ int spin_twice(int v) { return spin(v) - spin(v / 2); }

__noinline__ __device__ int invert(int v) { return ~v; }

using Function = int (*)(int);
__device__ const Function kFunctions[4] = {square, spin, spin_twice, invert};

__global__ void per_lane_functions(const int* which, const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = kFunctions[which[i]](x[i]);
}
