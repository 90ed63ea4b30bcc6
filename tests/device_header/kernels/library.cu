// The small C++ library of cuda::std, fused minima and maxima, inverse error functions.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <tuple>

__global__ void values(float* y, unsigned* u, int n) {
  auto [p, q] = cuda::std::make_tuple(y[0], n);
  float a = 0;
  int b = 0;
  std::tie(a, b) = std::make_tuple(p, q);
  y[1] = a + b + std::get<0>(std::make_tuple(1.0f, 2));
  y[2] = std::apply([](float x, int z) { return x * z; }, std::make_tuple(p, q));
  u[0] = std::popcount(u[1]) + std::bit_ceil(u[2]) + std::countl_zero(u[3]) + std::rotl(u[4], 5);
  u[1] = std::bit_cast<unsigned>(y[2]) + std::bit_width(u[5]) + std::has_single_bit(u[6]);
  cuda::std::optional<float> maybe;
  if (n > 3) maybe = y[3];
  y[4] = maybe.value_or(2) + cuda::std::max(p, a);
  float local[4] = {1, 2, 3, 4};
  cuda::std::span<float> all(local);
  for (float& v : all.subspan(1, 2)) v *= y[0];
  y[5] = all[1] + all.back();
  cuda::std::complex<float> z(y[6], y[7]);
  z = z * z + 1.0f;
  z /= cuda::std::complex<float>(2, 3);
  z = exp(z);
  y[8] = abs(z) + z.real() + norm(z);
}

__global__ void fused(unsigned* u, int n) {
  u[0] = __vimax3_s32(n, u[0], 3) + __vimin3_u32(u[0], u[1], 9) + __viaddmax_s32(n, 3, u[2]);
  u[1] = __viaddmax_s16x2_relu(u[0], u[1], u[2]) + __vimin_s32_relu(n, 4) + __vimax3_u16x2(1, 2, 3);
  bool high, low, word;
  u[2] = __vibmax_s16x2(u[0], u[1], &high, &low) + high + 2 * low;
  u[3] = __vibmin_u32(u[0], u[1], &word) + word;
}

__global__ void inverses(double* d, float* y, __half* h, int n) {
  d[0] = erfinv(d[1]) + erfcinv(d[2]) + normcdfinv(d[3]) + erfcx(d[4]) + norm(3, d);
  d[1] =
      rnorm3d(d[0], d[1], d[2]) + rnorm4d(d[0], d[1], d[2], d[3]) + rnorm(2, d) + scalbln(d[0], 3L);
  y[0] = erfinvf(y[1]) + erfcinvf(y[2]) + normcdfinvf(y[3]) + erfcxf(y[4]) + normf(3, y);
  y[1] = erfinv(y[2]) + rnormf(2, y);
  h[0] = __hadd(__int2half_rz(n), __hadd(__uint2half_ru(n), __ll2half_rd(n)));
}

struct Best {
  float value;
  int index;
};
__global__ void structures(float* y, int* at) {
  auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  Best best = {y[threadIdx.x], static_cast<int>(threadIdx.x)};
  best = cooperative_groups::reduce(
      tile, best, [](const Best& a, const Best& b) { return a.value > b.value ? a : b; });
  y[0] = best.value;
  at[0] = best.index;
}
