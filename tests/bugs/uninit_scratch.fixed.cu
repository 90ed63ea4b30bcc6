//! kernelwright 1
//! task    total
//! input   x: int32[N]
//! output  y: int32[]
//! scratch sum: int32[1] = 0
//! when    true
//! launch  add grid(ceil_div(N, 64)) block(64) args(x, sum, N)
//! launch  publish grid(1) block(1) args(sum, y)
//? dims N=200

// Mended twin of: the accumulator in scratch is never cleared.
__global__ void add(const int* x, int* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, x[i]);
}

__global__ void publish(const int* sum, int* y) {
  *y = *sum;
}
