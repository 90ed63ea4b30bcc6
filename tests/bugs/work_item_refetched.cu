//! kernelwright 1
//! task    squares
//! input   x: int32[N]
//! output  y: int32[N]
//! scratch next: uint32[1] = 0
//! when    N % 64 == 0
//! launch  squares grid(2) block(64) args(x, next, y, N)
//? dims N=512
//? also divergent-barrier output-not-written

// Bug: thread 0 fetches the next item while the other warp may still read the last one.
__global__ void squares(const int* x, unsigned* next, int* y, int n) {
  __shared__ unsigned item;
  for (;;) {
    if (threadIdx.x == 0) item = atomicAdd(next, 64u);  //~ shared-race
    __syncthreads();
    if (item >= (unsigned)n) return;  //~ shared-race
    unsigned i = item + threadIdx.x;  //~ shared-race
    y[i] = x[i] * x[i];
  }
}
