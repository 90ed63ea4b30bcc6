//! kernelwright 1
//! task    histogram
//! input   x: uint8[N]
//! output  bins: int32[256]
//! scratch totals: uint32[256] = 0
//! when    true
//! launch  count grid(min(ceil_div(N, 1024), SMS)) block(256) args(x, totals, N)
//! launch  publish grid(1) block(256) args(totals, bins)

__global__ void count(const unsigned char* x, unsigned* totals, int n) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i]], 1u);
  __syncthreads();
  if (local[threadIdx.x]) atomicAdd(&totals[threadIdx.x], local[threadIdx.x]);
}

__global__ void publish(const unsigned* totals, int* bins) { bins[threadIdx.x] = (int)totals[threadIdx.x]; }
