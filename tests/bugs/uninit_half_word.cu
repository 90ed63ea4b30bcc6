//! kernelwright 1
//! task    unpack
//! input   x: uint8[R, 64]
//! output  y: int32[R, 32]
//! when    true
//! launch  unpack grid(R) block(32) args(x, y)
//? dims R=2

// Bug: of every pair of bytes only the first is written, and both are read.
constexpr int kBytes = 1;

__global__ void unpack(const unsigned char* x, int* y) {
  __shared__ __align__(4) unsigned char bytes[64];
  int t = threadIdx.x;
  for (int k = 0; k < kBytes; ++k) bytes[2 * t + k] = x[blockIdx.x * 64 + 2 * t + k];
  __syncwarp();
  unsigned short pair = *reinterpret_cast<unsigned short*>(&bytes[2 * t]);
  y[blockIdx.x * 32 + t] = pair;  //~ uninitialised-use
}
