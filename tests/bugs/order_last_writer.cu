//! kernelwright 1
//! task    any_large
//! input   x: int32[N]
//! output  y: int32[]
//! scratch found: int32[1] = 0
//! when    true
//! launch  search grid(ceil_div(N, 32)) block(32) args(x, found, N)
//! launch  publish grid(1) block(1) args(found, y)
//? dims N=512
//? order
//? expect order-dependence

// Bug: any block that finds a large element may be the last to say so.
__global__ void search(const int* x, int* found, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 50) atomicExch(found, i);
}

__global__ void publish(const int* found, int* y) { *y = *found; }
