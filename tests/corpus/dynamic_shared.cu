//! kernelwright 1
//! task    sorted_pairs
//! input   x: fp32[R, C]
//! input   id: int16[R, C]
//! output  y: fp32[R, C]
//! output  where: int16[R, C]
//! when    (4 + 2) * C <= SMEM_MAX
//! launch  odd_even_sort grid(R) block(min(256, max(32, C))) shared((4 + 2) * C) args(x, id, y, where, C)

// Two arrays of different type carved from one dynamic allocation; more than 48 KB of it at large C.
__global__ void odd_even_sort(const float* x, const short* id, float* y, short* where, int cols) {
  extern __shared__ unsigned char memory[];
  float* key = reinterpret_cast<float*>(memory);
  short* tag = reinterpret_cast<short*>(key + cols);
  size_t row = (size_t)blockIdx.x * cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    key[c] = x[row + c];
    tag[c] = id[row + c];
  }
  __syncthreads();
  int rounds = min(cols, 64);  // a longer row comes out only partly sorted
  for (int round = 0; round < rounds; ++round) {
    for (int c = 2 * threadIdx.x + round % 2; c + 1 < cols; c += 2 * blockDim.x) {
      if (key[c] > key[c + 1]) {
        float k = key[c];
        key[c] = key[c + 1];
        key[c + 1] = k;
        short t = tag[c];
        tag[c] = tag[c + 1];
        tag[c + 1] = t;
      }
    }
    __syncthreads();
  }
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    y[row + c] = key[c];
    where[row + c] = tag[c];
  }
}
