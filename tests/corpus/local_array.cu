//! kernelwright 1
//! task    small_sort
//! input   x: fp32[N, 9]
//! output  median: fp32[N]
//! output  rank: int32[N, 9]
//! when    true
//! launch  small_sort grid(ceil_div(N, 64)) block(64) args(x, median, rank, N)

// Insertion sort with run-time indices, which puts the arrays in local memory.
__global__ void small_sort(const float* x, float* median, int* rank, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value[9];
  signed char from[9];
#pragma unroll 1
  for (int j = 0; j < 9; ++j) {
    float v = x[(size_t)i * 9 + j];
    int at = j;
#pragma unroll 1
    while (at > 0 && value[at - 1] > v) {
      value[at] = value[at - 1];
      from[at] = from[at - 1];
      --at;
    }
    value[at] = v;
    from[at] = (signed char)j;
  }
  median[i] = value[4];
#pragma unroll 1
  for (int j = 0; j < 9; ++j) rank[(size_t)i * 9 + from[j]] = j;
}
