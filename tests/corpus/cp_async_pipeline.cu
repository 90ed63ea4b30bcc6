//! kernelwright 1
//! task    row_dot
//! input   a: fp32[R, C]
//! input   b: fp32[R, C]
//! output  y: fp32[R]
//! when    C % 4 == 0
//! launch  row_dot grid(R) block(64) args(a, b, y, C)

// Two stages: while one tile is used, the next is copied to shared memory in the background.
constexpr int kTile = 256;

__device__ void copy16(void* to, const void* from) {
  unsigned address = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
__device__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

__device__ void fetch(float* to, const float* from, int at, int cols) {
  int c = at + threadIdx.x * 4;
  if (c < cols) copy16(to + threadIdx.x * 4, from + c);
}

__global__ void row_dot(const float* a, const float* b, float* y, int cols) {
  __shared__ __align__(16) float left[2][kTile];
  __shared__ __align__(16) float right[2][kTile];
  __shared__ float sums[2];
  const float* ra = a + (size_t)blockIdx.x * cols;
  const float* rb = b + (size_t)blockIdx.x * cols;
  int tiles = (cols + kTile - 1) / kTile;
  fetch(left[0], ra, 0, cols);
  fetch(right[0], rb, 0, cols);
  commit();
  float sum = 0.0f;
  for (int i = 0; i < tiles; ++i) {
    int now = i % 2;
    if (i + 1 < tiles) {
      fetch(left[1 - now], ra, (i + 1) * kTile, cols);
      fetch(right[1 - now], rb, (i + 1) * kTile, cols);
      commit();
      wait<1>();
    } else {
      wait<0>();
    }
    __syncthreads();
    int count = min(kTile, cols - i * kTile);
    for (int j = threadIdx.x; j < count; j += 64) sum = fmaf(left[now][j], right[now][j], sum);
    __syncthreads();
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = sums[0] + sums[1];
}
