//! kernelwright 1
//! task    dropout
//! input   x: fp32[N]
//! scalar  seed: int64 = 1234567890123
//! scalar  offset: int64 = 77
//! scalar  keep: fp32 = 0.75
//! output  y: fp32[N]
//! output  bits: uint32[N]
//! when    true
//! launch  dropout grid(ceil_div(ceil_div(N, 4), 64)) block(64) args(x, y, bits, N, seed, offset, keep)

// Philox 4x32, ten rounds: counter (index, 0, offset), key from the seed.
__device__ uint4 philox(uint4 counter, uint2 key) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    unsigned high0 = __umulhi(0xD2511F53u, counter.x), low0 = 0xD2511F53u * counter.x;
    unsigned high1 = __umulhi(0xCD9E8D57u, counter.z), low1 = 0xCD9E8D57u * counter.z;
    counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

__global__ void dropout(const float* x, float* y, unsigned* bits, int n, long long seed, long long offset, float keep) {
  int group = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * group >= n) return;
  uint4 r = philox(make_uint4(group, 0u, (unsigned)offset, (unsigned)(offset >> 32)),
                   make_uint2((unsigned)seed, (unsigned)(seed >> 32)));
  unsigned words[4] = {r.x, r.y, r.z, r.w};
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    int i = 4 * group + j;
    if (i >= n) break;
    float u = (words[j] >> 8) * (1.0f / 16777216.0f);
    bits[i] = words[j];
    y[i] = u < keep ? __fdiv_rn(x[i], keep) : 0.0f;
  }
}
