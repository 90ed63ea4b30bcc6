// Cooperative groups, cp.async, fp8 and the std headers.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <algorithm>
#include <cassert>
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <functional>
#include <initializer_list>
#include <utility>
namespace cg = cooperative_groups;

template <typename T>
__device__ T largest(std::initializer_list<T> values) {
  T result = std::numeric_limits<T>::lowest();
  for (const T value : values) result = std::max(result, value);
  return result;
}

__global__ void groups(const float4* x, float* y, int n) {
  __shared__ alignas(16) float4 stage[128];
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  const auto warp = cg::tiled_partition<32>(block);
  __pipeline_memcpy_async(&stage[block.thread_rank()], x + block.thread_rank(), sizeof(float4));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  block.sync();
  float v = stage[threadIdx.x ^ 1].x;
  v = cg::reduce(tile, v, cg::plus<float>()) + cg::inclusive_scan(warp, v) + tile.shfl_down(v, 1);
  int m = cg::reduce(warp, n, cg::greater<int>()) + tile.ballot(v > 0) + tile.any(n) + tile.all(n);
  if (threadIdx.x % 3 == 0) {
    const auto active = cg::coalesced_threads();
    m += active.ballot(v > 0) + active.shfl(m, 0) + active.thread_rank() +
         cg::reduce(active, m, cg::plus<int>());
  }
  cg::this_grid().sync();
  const cuda::std::array<float, 3> r{v, 2, 3};
  static_assert(cuda::std::is_same_v<float, decltype(v)>);
  auto ends = std::make_pair(v, m);
  std::swap(ends.first, v);
  y[cg::this_grid().thread_rank()] = r[n] + m + largest({1.0f, v, 2.0f}) + std::plus<>()(v, 1.0f);
  assert(y[0] > 0);
}

__global__ void orders(unsigned* c, int* flag, float* f) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*c);
  cuda::atomic_ref<int, cuda::thread_scope_block> near(*flag);
  cuda::atomic_ref<float> sum(*f);
  if (count.fetch_add(1u, cuda::memory_order_acq_rel) == 7)
    near.store(1, cuda::memory_order_release);
  while (near.load(cuda::memory_order_acquire) == 0) {
  }
  int expected = 3;
  near.compare_exchange_strong(expected, 4);
  sum.fetch_add(1.0f, cuda::memory_order_relaxed);
  ++count;
}

__global__ void eighths(const float* x, float* y, __nv_fp8_e4m3* a, __nv_fp8x4_e5m2* b,
                        __nv_fp8x2_e4m3* c, std::uint8_t* raw) {
  const int i = threadIdx.x;
  a[i] = __nv_fp8_e4m3(x[i]);
  b[i] = __nv_fp8x4_e5m2(make_float4(x[0], x[1], x[2], x[3]));
  c[i] = __nv_fp8x2_e4m3(__floats2half2_rn(x[4], x[5]));
  const float4 four = static_cast<float4>(b[i + 1]);
  const float2 two = static_cast<float2>(c[i + 1]);
  y[i] = four.x + four.w + two.y + static_cast<float>(a[i + 1]);
  raw[i] = __nv_cvt_float_to_fp8(x[6], __NV_NOSAT, __NV_E5M2);
  raw[i + 1] = __nv_cvt_double_to_fp8(x[7], __NV_SATFINITE, __NV_E4M3);
}
