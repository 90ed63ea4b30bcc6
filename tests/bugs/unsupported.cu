//! kernelwright 1
//! task    fenced_copy
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  fenced_copy grid(ceil_div(N, 128)) block(128) args(x, y, N)
//? dims N=128
//? refused unsupported instruction cp.async.bulk.commit_group at unsupported.cu:13

// Bug: an instruction of a copy engine that this device does not have.
__global__ void fenced_copy(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  if (i < n) y[i] = x[i];
}
