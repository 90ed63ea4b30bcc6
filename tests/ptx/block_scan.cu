// CUB block primitives: inlined far from the module's own file.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
template <int kThreads>
__global__ void scan(const int* x, int* y, float* total) {
  using Scan = cub::BlockScan<int, kThreads>;
  using Reduce = cub::BlockReduce<float, kThreads>;
  __shared__ union {
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
  } temp;
  int v[4];
  for (int k = 0; k < 4; ++k) v[k] = x[(blockIdx.x * kThreads + threadIdx.x) * 4 + k];
  Scan(temp.scan).ExclusiveSum(v, v);
  __syncthreads();
  for (int k = 0; k < 4; ++k) y[(blockIdx.x * kThreads + threadIdx.x) * 4 + k] = v[k];
  const float sum = Reduce(temp.reduce).Sum(static_cast<float>(v[3]));
  if (threadIdx.x == 0) total[blockIdx.x] = sum;
}
template __global__ void scan<128>(const int*, int*, float*);
__global__ void sort(unsigned* keys) {
  using Sort = cub::BlockRadixSort<unsigned, 128, 4>;
  __shared__ typename Sort::TempStorage temp;
  unsigned k[4];
  for (int i = 0; i < 4; ++i) k[i] = keys[threadIdx.x * 4 + i];
  Sort(temp).Sort(k);
  for (int i = 0; i < 4; ++i) keys[threadIdx.x * 4 + i] = k[i];
}
