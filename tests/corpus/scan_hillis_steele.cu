//! kernelwright 1
//! task    cumsum
//! input   x: int32[R, C]
//! output  y: int32[R, C]
//! tune    THREADS in 128, 1024
//! when    C <= THREADS
//! launch  cumsum<THREADS> grid(R) block(THREADS) args(x, y, C)

template <int kThreads>
__global__ void cumsum(const int* x, int* y, int cols) {
  __shared__ int buffer[2][kThreads];
  int t = threadIdx.x;
  size_t row = (size_t)blockIdx.x * cols;
  int now = 0;
  buffer[0][t] = t < cols ? x[row + t] : 0;
  __syncthreads();
  for (int step = 1; step < kThreads; step *= 2) {
    int v = buffer[now][t];
    if (t >= step) v += buffer[now][t - step];
    buffer[1 - now][t] = v;
    now = 1 - now;
    __syncthreads();
  }
  if (t < cols) y[row + t] = buffer[now][t];
}
