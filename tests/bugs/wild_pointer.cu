//! kernelwright 1
//! task    copy
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  copy grid(1) block(32) args(x, y, N)
//? dims N=32

// Bug: the address is scaled twice by the size of an element of the wrong table.
__global__ void copy(const int* x, int* y, int n) {
  long long pitch = 1LL << 44;
  int i = threadIdx.x;
  if (i < n) {
    y[i] = x[(i + 1) * pitch];  //~ invalid-address
  }
}
