//! kernelwright 1
//! task    embedding
//! input   table: fp16[V, D]
//! input   ids: int64[T]
//! output  y: fp16[T, D]
//! when    D % 8 == 0
//! launch  embed_vec grid(T) block(32) args(table, ids, y, D / 8)
//! when    true
//! launch  embed grid(T) block(32) args(table, ids, y, D)
#include <cuda_fp16.h>

__global__ void embed_vec(const __half* table, const long long* ids, __half* y, int chunks) {
  const int4* row = reinterpret_cast<const int4*>(table) + ids[blockIdx.x] * chunks;
  int4* out = reinterpret_cast<int4*>(y) + (long long)blockIdx.x * chunks;
  for (int i = threadIdx.x; i < chunks; i += blockDim.x) out[i] = __ldg(row + i);
}

__global__ void embed(const __half* table, const long long* ids, __half* y, int width) {
  long long row = ids[blockIdx.x];
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    y[(long long)blockIdx.x * width + i] = table[row * width + i];
  }
}
