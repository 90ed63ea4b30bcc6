//! kernelwright 1
//! task    cub_tour
//! input   x: int32[R, 256]
//! output  sorted: int32[R, 256]
//! output  warp_top: int32[R, 4]
//! output  bins: int32[R, 32]
//! output  starts: int32[R, 256]
//! when    true
//! launch  cub_tour grid(R) block(64) args(x, sorted, warp_top, bins, starts)
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>

struct Less {
  __device__ bool operator()(int a, int b) const { return a < b; }
};
struct Differs {
  __device__ bool operator()(int a, int b) const { return a != b; }
};
struct Larger {
  __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

__global__ void cub_tour(const int* x, int* sorted, int* warp_top, int* bins, int* starts) {
  using Load = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Sort = cub::BlockMergeSort<int, 64, 4>;
  using Histogram = cub::BlockHistogram<unsigned char, 64, 4, 32>;
  using Heads = cub::BlockDiscontinuity<int, 64>;
  using Reduce = cub::WarpReduce<int, 16>;
  __shared__ union {
    Load::TempStorage load;
    Store::TempStorage store;
    Sort::TempStorage sort;
    Histogram::TempStorage histogram;
    Heads::TempStorage heads;
    Reduce::TempStorage reduce[4];
  } memory;
  __shared__ int counts[32];
  int items[4], flags[4];
  unsigned char keys[4];
  Load(memory.load).Load(x + (size_t)blockIdx.x * 256, items);
  __syncthreads();
  int top = max(max(items[0], items[1]), max(items[2], items[3]));
  top = Reduce(memory.reduce[threadIdx.x / 16]).Reduce(top, Larger());
  if (threadIdx.x % 16 == 0) warp_top[blockIdx.x * 4 + threadIdx.x / 16] = top;
  for (int j = 0; j < 4; ++j) keys[j] = (unsigned char)(items[j] & 31);
  __syncthreads();
  Histogram(memory.histogram).Histogram(keys, counts);
  __syncthreads();
  if (threadIdx.x < 32) bins[blockIdx.x * 32 + threadIdx.x] = counts[threadIdx.x];
  Sort(memory.sort).Sort(items, Less());
  __syncthreads();
  Heads(memory.heads).FlagHeads(flags, items, Differs());
  __syncthreads();
  Store(memory.store).Store(sorted + (size_t)blockIdx.x * 256, items);
  __syncthreads();
  Store(memory.store).Store(starts + (size_t)blockIdx.x * 256, flags);
}
