//! kernelwright 1
//! task    segmented_sum
//! input   x: int32[R, C]
//! input   head: bool[R, C]
//! output  y: int32[R, C]
//! when    C <= 256
//! launch  segmented_sum grid(R) block(256) args(x, head, y, C)

__global__ void segmented_sum(const int* x, const bool* head, int* y, int cols) {
  __shared__ int values[256];
  __shared__ int heads[256];
  int t = threadIdx.x;
  size_t at = (size_t)blockIdx.x * cols + t;
  int v = t < cols ? x[at] : 0;
  int h = t < cols ? head[at] : 1;
  values[t] = v;
  heads[t] = h;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    int left = 0, left_head = 0;
    if (t >= step) {
      left = values[t - step];
      left_head = heads[t - step];
    }
    __syncthreads();
    if (t >= step) {
      if (!h) v += left;
      h |= left_head;
      values[t] = v;
      heads[t] = h;
    }
    __syncthreads();
  }
  if (t < cols) y[at] = v;
}
