//! kernelwright 1
//! task    wait_for_all
//! input   x: int32[N]
//! output  y: int32[64]
//! scratch arrived: uint32[1] = 0
//! when    true
//! launch  wait_for_all grid(264) block(1024) args(x, arrived, y)
//? dims N=1024

// Bug: 264 blocks wait for each other, but with so many registers only 132 fit on the device.
__global__ void __launch_bounds__(1024, 1) wait_for_all(const int* x, unsigned* arrived, int* y) {
  int i = threadIdx.x, value[40];
#pragma unroll
  for (int k = 0; k < 40; ++k) value[k] = x[(i + 31 * k) % 1024];
#pragma unroll 1
  for (int turn = 0; turn < 3; ++turn) {
#pragma unroll
    for (int k = 0; k < 40; ++k) value[k] = value[k] * value[(k + 1) % 40] + value[(k + 7) % 40];
  }
  __syncthreads();
  if (i == 0) {
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) {  //~ deadlock
    }
  }
  __syncthreads();
  int sum = 0;
#pragma unroll
  for (int k = 0; k < 40; ++k) sum ^= value[k];
  if (blockIdx.x == 0 && i < 64) y[i] = sum;
}
