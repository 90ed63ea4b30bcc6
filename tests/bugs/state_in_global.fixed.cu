//! kernelwright 1
//! task    numbered
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  numbered grid(1) block(32) args(x, y, N)
//? dims N=20

// Mended twin of: a module-level variable remembers how often the kernel ran.
__device__ int calls;

__global__ void numbered(const int* x, int* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = x[i];
  if (i == 0 && calls != 0) y[0] = 0;
}
