//! kernelwright 1
//! task    scaled
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  scaled grid(ceil_div(N, 32)) block(32) args(x, y, N)
//? dims N=40

// Bug: the table in constant memory is adjusted by the kernel.
__constant__ int kFactor[4] = {1, 2, 3, 4};

__global__ void scaled(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int* factor = const_cast<int*>(&kFactor[0]);
  if (i == 0) {
    asm volatile("st.s32 [%0], 5;" ::"l"(factor + (x[0] & 3)) : "memory");  //~ write-to-constant
  }
  y[i] = x[i] * factor[i % 4];
}
