//! kernelwright 1
//! task    packed_bytes
//! input   a: uint32[N]
//! input   b: uint32[N]
//! output  y: uint32[10, N]
//! when    true
//! launch  packed_bytes grid(ceil_div(N, 64)) block(64) args(a, b, y, N)

__global__ void packed_bytes(const unsigned* a, const unsigned* b, unsigned* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned u = a[i], v = b[i];
  y[0 * n + i] = __vadd4(u, v);
  y[1 * n + i] = __vsub2(u, v);
  y[2 * n + i] = __vabsdiffu4(u, v);
  y[3 * n + i] = __vmaxu4(u, v);
  y[4 * n + i] = __vmins2(u, v);
  y[5 * n + i] = __vcmpgtu4(u, v);
  y[6 * n + i] = __vavgu4(u, v);
  y[7 * n + i] = __vaddus4(u, v);
  y[8 * n + i] = __vseteq4(u & 0x03030303u, v & 0x03030303u);
  y[9 * n + i] = __vsadu4(u, v);
}
