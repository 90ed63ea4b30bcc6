//! kernelwright 1
//! task    locked_add
//! input   x: int32[N]
//! output  y: int32[]
//! scratch lock: int32[1] = 0
//! scratch sum: int32[1] = 0
//! when    true
//! launch  locked_add grid(N) block(1) args(x, lock, sum)
//! launch  publish grid(1) block(1) args(sum, y)
//? dims N=20
//? budget 4000000

// Mended twin of: a block whose value is negative leaves without giving the lock back.
__global__ void locked_add(const int* x, int* lock, int* sum) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  int v = x[blockIdx.x];
  if (v < 0) {
    __threadfence();
    atomicExch(lock, 0);
    return;
  }
  volatile int* total = sum;
  *total = *total + v;
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void publish(const int* sum, int* y) { *y = *sum; }
