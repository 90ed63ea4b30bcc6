//! kernelwright 1
//! task    sort_rows
//! input   x: uint32[R, C]
//! output  y: uint32[R, C]
//! when    C <= 256
//! launch  sort_rows grid(R) block(64) args(x, y, C)
#include <cub/block/block_radix_sort.cuh>

__global__ void sort_rows(const unsigned* x, unsigned* y, int cols) {
  using Sort = cub::BlockRadixSort<unsigned, 64, 4>;
  __shared__ Sort::TempStorage storage;
  unsigned keys[4];
  for (int j = 0; j < 4; ++j) {
    int c = threadIdx.x * 4 + j;
    keys[j] = c < cols ? x[(size_t)blockIdx.x * cols + c] : 0xffffffffu;
  }
  Sort(storage).Sort(keys);
  for (int j = 0; j < 4; ++j) {
    int c = threadIdx.x * 4 + j;
    if (c < cols) y[(size_t)blockIdx.x * cols + c] = keys[j];
  }
}
