//! kernelwright 1
//! task    total
//! input   x: int32[N]
//! output  y: int32[]
//! scratch partial: int32[2 * ceil_div(N, 64)]
//! scratch arrived: uint32[1] = 0
//! when    N % 64 == 0
//! launch  total grid(N / 64) block(64) args(x, partial, arrived, y)
//? dims N=256
//? also uninitialised-use global-race-in-block

// Bug: each warp writes a partial sum, but only the last thread announces both.
__global__ void total(const int* x, int* partial, unsigned* arrived, int* y) {
  int t = threadIdx.x, warp = t / 32;
  int sum = __reduce_add_sync(~0u, x[blockIdx.x * 64 + t]);
  if (t % 32 == 0) partial[blockIdx.x * 2 + warp] = sum;  //~ global-race-between-blocks
  if (t != 63) return;
  __threadfence();
  if (atomicAdd(arrived, 1u) != gridDim.x - 1) return;
  __threadfence();
  int all = 0;
  for (int p = 0; p < 2 * gridDim.x; ++p) all += partial[p];  //~ global-race-between-blocks
  *y = all;
}
