//! kernelwright 1
//! task    transpose_bytes
//! input   x: uint8[B, R, C]
//! output  y: uint8[B, C, R]
//! when    true
//! launch  transpose_bytes grid(ceil_div(C, 32), ceil_div(R, 32), B) block(32, 4) args(x, y, R, C)

// One word per element and an exclusive-or swizzle instead of padding: column reads hit 32 different banks.
__global__ void transpose_bytes(const unsigned char* __restrict__ x, unsigned char* __restrict__ y, int rows,
                                int cols) {
  __shared__ unsigned tile[32 * 32];
  const unsigned char* in = x + (size_t)blockIdx.z * rows * cols;
  unsigned char* out = y + (size_t)blockIdx.z * rows * cols;
  int col = blockIdx.x * 32 + threadIdx.x;
#pragma unroll
  for (int j = 0; j < 32; j += 4) {
    int r = threadIdx.y + j;
    int row = blockIdx.y * 32 + r;
    unsigned v = row < rows && col < cols ? in[(size_t)row * cols + col] : 0u;
    tile[r * 32 + (threadIdx.x ^ r)] = v;
  }
  __syncthreads();
  int out_col = blockIdx.y * 32 + threadIdx.x;
#pragma unroll
  for (int j = 0; j < 32; j += 4) {
    int c = threadIdx.y + j;
    int out_row = blockIdx.x * 32 + c;
    if (out_row < cols && out_col < rows) {
      out[(size_t)out_row * rows + out_col] = (unsigned char)tile[threadIdx.x * 32 + (c ^ threadIdx.x)];
    }
  }
}
