//! kernelwright 1
//! task    queue_sum
//! input   x: int32[N]
//! output  y: int32[]
//! let     blocks = ceil_div(N, 64)
//! scratch partial: int32[blocks]
//! scratch arrived: uint32[1] = 0
//! when    true
//! launch  queue_sum grid(blocks) block(64) args(x, partial, arrived, y, N)
#include <cuda/atomic>

// Partial sums are published by a release and taken by an acquire on one counter; no fence is written out.
__global__ void queue_sum(const int* x, int* partial, unsigned* arrived, int* y, int n) {
  __shared__ int sums[2];
  int i = blockIdx.x * 64 + threadIdx.x;
  int v = (int)__reduce_add_sync(0xffffffffu, (unsigned)(i < n ? x[i] : 0));
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x != 0) return;
  partial[blockIdx.x] = sums[0] + sums[1];
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(*arrived);
  if (counter.fetch_add(1u, cuda::memory_order_acq_rel) != gridDim.x - 1) return;
  int total = 0;
  for (int b = 0; b < gridDim.x; ++b) total += partial[b];
  *y = total;
}
