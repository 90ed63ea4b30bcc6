//! kernelwright 1
//! task    packed
//! input   x: int32[R, 64]
//! output  y: int64[R, 32]
//! when    true
//! launch  packed grid(R) block(32) shared(4 * 66) args(x, y, 1)
//? dims R=2

// Bug: pairs are read from shared memory at odd words.
__global__ void packed(const int* x, long long* y, int shift) {
  extern __shared__ int row[];
  int t = threadIdx.x;
  row[shift + t] = x[blockIdx.x * 64 + t];
  row[shift + 32 + t] = x[blockIdx.x * 64 + 32 + t];
  __syncthreads();
  const int* at = &row[shift + 2 * t];
  long long pair = *reinterpret_cast<const long long*>(at);  //~ misaligned
  y[blockIdx.x * 32 + t] = pair % 1000003;
}
