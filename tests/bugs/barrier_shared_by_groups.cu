//! kernelwright 1
//! task    turn
//! input   x: int32[N]
//! output  y: int32[N]
//! when    N % 256 == 0
//! launch  turn grid(N / 256) block(256) args(x, y)
//? dims N=256
//? also shared-race

// Bug: two groups of four warps use one named barrier.
__global__ void turn(const int* x, int* y) {
  __shared__ int tile[256];
  int t = threadIdx.x, group = t / 128;
  tile[t] = x[blockIdx.x * 256 + t];
  if (group == 0)
    asm volatile("bar.sync 2, 128;" ::: "memory");  //~ barrier-misuse
  else
    asm volatile("bar.sync 2, 128;" ::: "memory");  //~ barrier-misuse
  y[blockIdx.x * 256 + t] = tile[t ^ 127];
}
