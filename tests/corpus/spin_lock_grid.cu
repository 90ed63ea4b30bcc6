//! kernelwright 1
//! task    locked_max
//! input   x: int32[N]
//! output  best: int32[2]
//! scratch lock: int32[1] = 0
//! scratch entry: int32[2] = 0
//! let     blocks = ceil_div(N, 64)
//! when    true
//! launch  locked_max grid(blocks) block(64) args(x, lock, entry, N)
//! launch  publish grid(1) block(2) args(entry, best)

// One thread of every block takes a lock and updates two words together. Lowest index wins ties.
__global__ void locked_max(const int* x, int* lock, int* entry, int n) {
  __shared__ int top, where;
  if (threadIdx.x == 0) {
    top = -2147483647;
    where = 2147483647;
  }
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(&top, x[i]);
  __syncthreads();
  if (i < n && x[i] == top) atomicMin(&where, i);
  __syncthreads();
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) __nanosleep(50);
    __threadfence();
    volatile int* shared_entry = entry;
    bool first = shared_entry[1] == 0;
    int old = shared_entry[0], old_where = shared_entry[1] - 1;
    if (first || top > old || (top == old && where < old_where)) {
      shared_entry[0] = top;
      shared_entry[1] = where + 1;
    }
    __threadfence();
    atomicExch(lock, 0);
  }
}

__global__ void publish(const int* entry, int* best) { best[threadIdx.x] = entry[threadIdx.x] - (int)threadIdx.x; }
