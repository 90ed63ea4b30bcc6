//! kernelwright 1
//! task    count
//! input   x: int32[N]
//! output  y: int32[]
//! scratch sum: uint32[1] = 0
//! when    true
//! launch  count grid(ceil_div(N, 64)) block(64) args(x, sum, N)
//! launch  publish grid(1) block(1) args(sum, y)
//? dims N=300

// Bug: an atomic that is only atomic among the threads of one block is used by many blocks.
__global__ void count(const int* x, unsigned* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0) {
    atomicInc_block(sum, 1000000u);  //~ global-race-between-blocks
  }
}

__global__ void publish(const unsigned* sum, int* y) { *y = (int)*sum; }
