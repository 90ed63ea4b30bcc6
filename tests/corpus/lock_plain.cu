//! kernelwright 1
//! task    guarded_table
//! input   x: int32[N]
//! output  y: int32[8]
//! scratch lock: int32[1] = 0
//! scratch table: int32[8] = 0
//! when    true
//! launch  guarded_table grid(ceil_div(N, 32)) block(32) args(x, lock, table, N)
//! launch  publish grid(1) block(8) args(table, y)

// The whole block works on the table between lock and unlock, with plain accesses: the fences and the barriers order
// them between blocks and between threads.
__global__ void guarded_table(const int* x, int* lock, int* table, int n) {
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  if (t == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
  }
  __syncthreads();
  for (int turn = 0; turn < 32; ++turn) {
    if (t == turn && i < n) table[x[i] & 7] = table[x[i] & 7] + (x[i] & 31);
    __syncthreads();
  }
  if (t == 0) {
    __threadfence();
    atomicExch(lock, 0);
  }
}

__global__ void publish(const int* table, int* y) { y[threadIdx.x] = table[threadIdx.x]; }
