//! kernelwright 1
//! task    packed
//! input   x: int32[R, 64]
//! output  y: int32[R, 32]
//! when    true
//! launch  packed grid(R) block(32) shared(4 * 66) args(x, y)
//? dims R=2

// Mended twin of: pairs are read from shared memory at odd words.
constexpr int kShift = 2;

__global__ void packed(const int* x, int* y) {
  extern __shared__ int row[];
  int t = threadIdx.x;
  row[kShift + t] = x[blockIdx.x * 64 + t];
  row[kShift + 32 + t] = x[blockIdx.x * 64 + 32 + t];
  __syncthreads();
  long long pair = *reinterpret_cast<long long*>(&row[kShift + 2 * t]);
  y[blockIdx.x * 32 + t] = (int)pair * (int)(pair >> 32);
}
