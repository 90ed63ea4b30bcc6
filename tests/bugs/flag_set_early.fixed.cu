//! kernelwright 1
//! task    total
//! input   x: int32[N]
//! output  y: int32[64]
//! scratch part: int32[N]
//! scratch ready: uint32[4] = 0
//! when    true
//! launch  total grid(4) block(64) args(x, part, ready, y)
//? order
//? certain
//? dims N=256

// Mended twin of: the reader accepts a flag that says "started", though only 2 says "written".
#define WANTED 2

__global__ void total(const int* x, int* part, unsigned* ready, int* y) {
  int i = threadIdx.x, b = blockIdx.x;
  if (i == 0) {
    __threadfence();
    atomicExch(&ready[b], 1u);
  }
  part[b * 64 + i] = x[b * 64 + i];
  __threadfence();
  __syncthreads();
  if (i == 0) atomicExch(&ready[b], 2u);
  if (b != 3) return;
  if (i < 4) {
    while (atomicAdd(&ready[i], 0u) < WANTED) {
    }
    __threadfence();
  }
  __syncthreads();
  y[i] = part[i] + part[64 + i] + part[128 + i] + part[192 + i];
}
