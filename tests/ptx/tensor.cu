// wmma, mma.sync, ldmatrix and cp.async.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;
__global__ void wmma_tile(const __half* a, const __half* b, float* c, int n) {
  __shared__ __align__(16) __half tile[2][256];
  __pipeline_memcpy_async(&tile[0][threadIdx.x * 8], a + threadIdx.x * 8, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.f);
  wmma::load_matrix_sync(fa, tile[0], 16);
  wmma::load_matrix_sync(fb, b, n);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, n, wmma::mem_row_major);
}
__global__ void mma_raw(const unsigned* a, float* c) {
  __shared__ unsigned s[128];
  s[threadIdx.x] = a[threadIdx.x];
  __syncwarp();
  unsigned f0, f1, f2, f3;
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(s));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f0), "=r"(f1), "=r"(f2), "=r"(f3)
               : "r"(at));
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
      : "r"(f0), "r"(f1), "r"(f2), "r"(f3), "r"(f0), "r"(f1));
  c[threadIdx.x] = d0 + d1 + d2 + d3;
}
