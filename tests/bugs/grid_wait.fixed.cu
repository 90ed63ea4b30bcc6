//! kernelwright 1
//! task    all_arrive
//! input   x: int32[N]
//! output  y: int32[N]
//! scratch arrived: int32[1] = 0
//! when    true
//! launch  all_arrive grid(N) block(32) shared(200000) args(x, arrived, y, N)
//? dims N=300
//? budget 20000000

// Mended twin of: every block waits for all blocks, but they do not fit on the device together.
constexpr bool kWait = false;

__global__ void all_arrive(const int* x, int* arrived, int* y, int blocks) {
  if (threadIdx.x != 0) return;
  atomicAdd(arrived, 1);
  if (kWait) {
    while (atomicAdd(arrived, 0) < blocks) {
    }
  }
  y[blockIdx.x] = x[blockIdx.x] + 1;
}
