//! kernelwright 1
//! task    add_rows
//! input   x: int32[N]
//! output  y: int32[64]
//! when    true
//! launch  clear grid(1) block(64) args(y)
//! launch  add_rows grid(4) block(64) args(x, y)
//? certain
//? dims N=256

// Mended twin of: volatile makes neither half of the addition wait for another block's.
#define ADD(place, value) atomicAdd(place, value)

__global__ void clear(int* y) { y[threadIdx.x] = 0; }

__global__ void add_rows(const int* x, int* y) {
  int i = threadIdx.x;
  ADD(&y[i], x[blockIdx.x * 64 + i]);
}
