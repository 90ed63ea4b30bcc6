//! kernelwright 1
//! task    flags
//! input   x: int32[N]
//! output  y: int8[N]
//! when    true
//! launch  flags grid(1) block(32) args(x, y, N)
//? dims N=61

// Mended twin of: bytes are written in pairs, past an odd end.
__global__ void flags(const int* x, signed char* y, int n) {
  for (int i = 2 * threadIdx.x; i < n; i += 64) {
    y[i] = x[i] > 0;
    if (i + 1 < n) y[i + 1] = x[i + 1] > 0;
  }
}
