//! kernelwright 1
//! task    cub_scan
//! input   x: int32[R, C]
//! output  y: int32[R, C]
//! output  sum: int32[R]
//! when    C <= 512
//! launch  cub_scan grid(R) block(128) args(x, y, sum, C)
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

__global__ void cub_scan(const int* x, int* y, int* sum, int cols) {
  using Scan = cub::BlockScan<int, 128>;
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ union {
    Scan::TempStorage scan;
    Reduce::TempStorage reduce;
  } storage;
  int items[4];
  for (int j = 0; j < 4; ++j) {
    int c = threadIdx.x * 4 + j;
    items[j] = c < cols ? x[(size_t)blockIdx.x * cols + c] : 0;
  }
  int total = Reduce(storage.reduce).Sum(items);
  __syncthreads();
  Scan(storage.scan).InclusiveSum(items, items);
  for (int j = 0; j < 4; ++j) {
    int c = threadIdx.x * 4 + j;
    if (c < cols) y[(size_t)blockIdx.x * cols + c] = items[j];
  }
  if (threadIdx.x == 0) sum[blockIdx.x] = total;
}
