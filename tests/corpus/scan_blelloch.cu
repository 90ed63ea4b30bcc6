//! kernelwright 1
//! task    exclusive_sum
//! input   x: int64[R, C]
//! output  y: int64[R, C]
//! tune    WIDTH in 256, 64
//! when    C <= WIDTH
//! launch  exclusive_sum grid(R) block(WIDTH / 2) shared(8 * WIDTH) args(x, y, C)

extern __shared__ long long tree[];

__global__ void exclusive_sum(const long long* x, long long* y, int cols) {
  int t = threadIdx.x;
  const long long* in = x + (size_t)blockIdx.x * cols;
  long long* out = y + (size_t)blockIdx.x * cols;
  for (int i = t; i < WIDTH; i += blockDim.x) tree[i] = i < cols ? in[i] : 0;
  int offset = 1;
  for (int d = WIDTH / 2; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  __syncthreads();
  if (t == 0) tree[WIDTH - 1] = 0;
  for (int d = 1; d < WIDTH; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      int low = offset * (2 * t + 1) - 1, high = offset * (2 * t + 2) - 1;
      long long left = tree[low];
      tree[low] = tree[high];
      tree[high] += left;
    }
  }
  __syncthreads();
  for (int i = t; i < cols; i += blockDim.x) out[i] = tree[i];
}
