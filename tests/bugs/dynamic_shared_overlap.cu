//! kernelwright 1
//! task    pairs
//! input   a: fp32[R, 64]
//! input   b: fp32[R, 64]
//! output  y: fp32[R, 64]
//! when    true
//! launch  pairs grid(R) block(64) shared(4 * 64 * 2) args(a, b, y)
//? dims R=2
//? also missing-syncwarp

// Bug: the second array starts inside the first (bytes taken for elements).
__global__ void pairs(const float* a, const float* b, float* y) {
  extern __shared__ unsigned char memory[];
  float* first = reinterpret_cast<float*>(memory);
  float* second = reinterpret_cast<float*>(memory + 64);
  int t = threadIdx.x;
  first[t] = a[blockIdx.x * 64 + t];  //~ shared-race
  second[t] = b[blockIdx.x * 64 + t];  //~ shared-race
  __syncthreads();
  y[blockIdx.x * 64 + t] = first[63 - t] * second[t ^ 1];
}
