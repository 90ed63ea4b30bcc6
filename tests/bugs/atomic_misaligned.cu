//! kernelwright 1
//! task    count64
//! input   x: int32[N]
//! output  y: int32[4]
//! when    true
//! launch  clear grid(1) block(4) args(y)
//! launch  count64 grid(ceil_div(N, 64)) block(64) args(x, y, N)
//? dims N=100

// Bug: a 64-bit counter at an odd word.
constexpr int kAt = 1;

__global__ void clear(int* y) { y[threadIdx.x] = 0; }

__global__ void count64(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(y + kAt), 1ull);  //~ misaligned
  }
}
