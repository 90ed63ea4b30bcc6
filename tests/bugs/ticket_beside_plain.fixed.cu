//! kernelwright 1
//! task    add_rows
//! input   x: int32[N]
//! output  y: int32[64]
//! scratch state: uint32[1] = 0
//! when    true
//! launch  clear grid(1) block(64) args(y)
//! launch  add_rows grid(8) block(64) args(x, y, state)
//? order
//? dims N=512

// Mended twin of: the ticket orders nothing, so blocks that overlap lose each other's sums. A fence makes it
// look ordered wherever one block ends before the next begins.
#define ADD(place, value) atomicAdd(&place, value)

__global__ void clear(int* y) { y[threadIdx.x] = 0; }

__global__ void add_rows(const int* x, int* y, unsigned* state) {
  __shared__ unsigned row;
  int i = threadIdx.x;
  if (i == 0) row = atomicAdd(state, 1u) & 0xffffu;
  __syncthreads();
  __threadfence();
  ADD(y[i], x[row * 64 + i]);
  __threadfence();
  __syncthreads();
  if (i == 0) atomicAdd(state, 1u << 16);
}
