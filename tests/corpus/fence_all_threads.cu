//! kernelwright 1
//! task    two_stage_max
//! input   x: int32[N]
//! output  y: int32[64]
//! let     blocks = ceil_div(N, 64)
//! scratch partial: int32[blocks, 64]
//! scratch arrived: uint32[1] = 0
//! when    true
//! launch  two_stage_max grid(blocks) block(64) args(x, partial, arrived, y, N)

// Every thread publishes its own value with its own fence; one thread counts for all of them.
__global__ void two_stage_max(const int* x, int* partial, unsigned* arrived, int* y, int n) {
  __shared__ unsigned order;
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  partial[blockIdx.x * 64 + t] = i < n ? x[i] : -1000;
  __threadfence();
  __syncthreads();
  if (t == 0) order = atomicAdd(arrived, 1u);
  __syncthreads();
  if (order != gridDim.x - 1) return;
  __threadfence();
  int best = -1000;
  for (int b = 0; b < gridDim.x; ++b) best = max(best, partial[b * 64 + t]);
  y[t] = best;
}
