//! kernelwright 1
//! task    block_sum
//! input   x: int32[N]
//! output  y: int32[]
//! let     blocks = ceil_div(N, 64)
//! scratch partial: int32[blocks]
//! scratch arrived: uint32[1] = 0 kept
//! when    true
//! launch  block_sum grid(blocks) block(64) args(x, partial, arrived, y, N)
//? dims N=400

// Mended twin of: the last block does not put the counter back to zero, so the next call never has a last block.
__global__ void block_sum(const int* x, int* partial, unsigned* arrived, int* y, int n) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sum, x[i]);
  __syncthreads();
  if (threadIdx.x != 0) return;
  partial[blockIdx.x] = sum;
  __threadfence();
  if (atomicAdd(arrived, 1u) != gridDim.x - 1) return;
  __threadfence();
  int total = 0;
  for (int b = 0; b < gridDim.x; ++b) total += __ldcg(&partial[b]);
  *y = total;
  *arrived = 0;
}
