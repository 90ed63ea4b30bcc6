// fp16, bf16, fp8: conversions and packed arithmetic.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
__global__ void small_floats(const __half2* a, const __nv_bfloat162* b, __half2* c,
                             __nv_bfloat162* d, __nv_fp8_e4m3* e, __nv_fp8x4_e5m2* f) {
  const int i = threadIdx.x;
  const __half2 h = __hfma2(a[i], a[i + 1], h2exp(a[i]));
  c[i] = __hmax2(h, __float22half2_rn({1.5f, 2.5f})) * __half2half2(htanh(__low2half(h)));
  d[i] = __hfma2(b[i], b[i], h2sqrt(b[i])) + __float22bfloat162_rn({0.5f, 3.f});
  e[i] = __nv_fp8_e4m3(__half2float(__high2half(h)));
  f[i] = __nv_fp8x4_e5m2(float4{1, 2, 3, __bfloat162float(d[i].x)});
  atomicAdd(c, h);
  atomicAdd(d, d[i]);
}
