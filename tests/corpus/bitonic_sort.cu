//! kernelwright 1
//! task    argsort
//! input   x: fp32[R, C]
//! output  sorted: fp32[R, C]
//! output  order: int32[R, C]
//! tune    WIDTH in 256, 64
//! when    C <= WIDTH
//! launch  argsort<WIDTH> grid(R) block(WIDTH / 2) args(x, sorted, order, C)

template <int kWidth>
__global__ void argsort(const float* x, float* sorted, int* order, int cols) {
  __shared__ float key[kWidth];
  __shared__ int from[kWidth];
  for (int i = threadIdx.x; i < kWidth; i += kWidth / 2) {
    key[i] = i < cols ? x[(size_t)blockIdx.x * cols + i] : __int_as_float(0x7f800000);
    from[i] = i;
  }
  for (int size = 2; size <= kWidth; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      int low = 2 * threadIdx.x - (threadIdx.x & (step - 1));
      int high = low + step;
      bool up = (low & size) == 0;
      bool greater = key[low] > key[high] || (key[low] == key[high] && from[low] > from[high]);
      if (greater == up) {
        float k = key[low];
        key[low] = key[high];
        key[high] = k;
        int f = from[low];
        from[low] = from[high];
        from[high] = f;
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < cols; i += kWidth / 2) {
    sorted[(size_t)blockIdx.x * cols + i] = key[i];
    order[(size_t)blockIdx.x * cols + i] = from[i];
  }
}
