//! kernelwright 1
//! task    scaled
//! input   x: fp32[N]
//! output  y: fp32[N]
//! scratch part: fp32[N]
//! when    true
//! launch  scaled grid(1) block(256) args(x, part, y, N)
//? dims N=200

// Bug: both phases share a launch, and the second promises that nothing writes what it reads.
__device__ void phase(const float* __restrict__ from, float* __restrict__ to, int n, int shift) {
  int t = threadIdx.x;
  if (t < n) to[t] = 0.5f * __ldg(from + (t + shift) % n);  //~ stale-read-only-load
}
__global__ void scaled(const float* x, float* part, float* y, int n) {
  phase(x, part, n, 1);
  __syncthreads();
  phase(part, y, n, n - 1);
}
