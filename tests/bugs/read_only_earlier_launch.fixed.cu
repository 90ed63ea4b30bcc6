//! kernelwright 1
//! task    scaled
//! input   x: fp32[N]
//! output  y: fp32[N]
//! scratch part: fp32[N]
//! when    true
//! launch  scaled grid(1) block(256) args(x, part, N, 1)
//! launch  scaled grid(1) block(256) args(part, y, N, N - 1)
//? dims N=200

// Mended twin of: two phases of one launch, joined by the read-only cache.
__global__ void scaled(const float* __restrict__ from, float* __restrict__ to, int n, int shift) {
  int t = threadIdx.x;
  if (t < n) to[t] = 0.5f * __ldg(from + (t + shift) % n);
}
