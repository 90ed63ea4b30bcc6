//! kernelwright 1
//! task    int64_math
//! input   a: int64[N]
//! input   b: int64[N]
//! output  y: int64[8, N]
//! output  u: uint64[5, N]
//! when    true
//! launch  int64_math grid(ceil_div(N, 64)) block(64) args(a, b, y, u, N)

__global__ void int64_math(const long long* a, const long long* b, long long* y, unsigned long long* u, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long p = a[i], q = b[i];
  unsigned long long pu = (unsigned long long)p, qu = (unsigned long long)q;
  y[0 * n + i] = (long long)(pu * qu);
  y[1 * n + i] = p / q;
  y[2 * n + i] = p % q;
  y[3 * n + i] = __mul64hi(p, q);
  y[4 * n + i] = (long long)(pu << (q & 63));
  y[5 * n + i] = p >> (q & 63);
  y[6 * n + i] = p / 1000003;
  y[7 * n + i] = min(p, q) + __popcll(p) - __clzll(q) + __ffsll(p);
  u[0 * n + i] = pu / qu;
  u[1 * n + i] = pu % qu;
  u[2 * n + i] = __umul64hi(pu, qu);
  u[3 * n + i] = __brevll(pu);
  u[4 * n + i] = pu % 10ull;
}
