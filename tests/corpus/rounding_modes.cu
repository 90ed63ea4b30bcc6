//! kernelwright 1
//! task    rounding_modes
//! input   a: fp32[N]
//! input   b: fp32[N]
//! output  y: fp32[10, N]
//! output  whole: int32[4, N]
//! output  wide: fp64[3, N]
//! when    true
//! launch  rounding_modes grid(ceil_div(N, 32)) block(32) args(a, b, y, whole, wide, N)

// Directed rounding, where one wrong bit shows.
__global__ void rounding_modes(const float* a, const float* b, float* y, int* whole, double* wide, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float u = a[i], v = b[i];
  y[0 * n + i] = __fadd_rd(u, v);
  y[1 * n + i] = __fadd_ru(u, v);
  y[2 * n + i] = __fadd_rz(u, v);
  y[3 * n + i] = __fmul_rd(u, v);
  y[4 * n + i] = __fmul_ru(u, v);
  y[5 * n + i] = __fmaf_rz(u, v, u);
  y[6 * n + i] = __fdiv_rn(u, v);
  y[7 * n + i] = __fdiv_ru(u, v);
  y[8 * n + i] = __fsqrt_rd(fabsf(u));
  y[9 * n + i] = __double2float_ru((double)u * (double)v);
  whole[0 * n + i] = __float2int_rn(u);
  whole[1 * n + i] = __float2int_rz(u);
  whole[2 * n + i] = __float2int_ru(v);
  whole[3 * n + i] = __float2int_rd(v);
  wide[0 * n + i] = __dadd_ru((double)u, 1e-9 * (double)v);
  wide[1 * n + i] = __dmul_rd((double)u, 0.1);
  wide[2 * n + i] = __ddiv_rn((double)u, (double)v);
}
