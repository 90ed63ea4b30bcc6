//! kernelwright 1
//! task    spread
//! input   x: uint8[R, 128]
//! output  y: uint8[R, 128]
//! when    true
//! launch  spread grid(R) block(128) args(x, y)
//? dims R=2

// Mended twin of: one byte of another warp's word is read before it is there.
__global__ void spread(const unsigned char* x, unsigned char* y) {
  __shared__ unsigned char row[128];
  int t = threadIdx.x;
  row[t] = 0;
  __syncthreads();
  row[t] = x[blockIdx.x * 128 + t];
  __syncthreads();
  y[blockIdx.x * 128 + t] = row[(t + 64) % 128];
}
