//! kernelwright 1
//! task    sums_by_key
//! input   key: int32[N]
//! input   value: int32[N]
//! output  sum: int32[K]
//! output  sum64: uint64[K]
//! output  mean: fp32[K]
//! scratch total: fp32[K] = 0
//! scratch count: uint32[K] = 0
//! when    true
//! launch  clear grid(ceil_div(K, 64)) block(64) args(sum, sum64, K)
//! launch  add grid(ceil_div(N, 128)) block(128) args(key, value, sum, sum64, total, count, N)
//! launch  divide grid(ceil_div(K, 64)) block(64) args(total, count, mean, K)

__global__ void clear(int* sum, unsigned long long* sum64, int keys) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < keys) {
    sum[k] = 0;
    sum64[k] = 0;
  }
}

__global__ void add(const int* key, const int* value, int* sum, unsigned long long* sum64, float* total,
                    unsigned* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int k = key[i], v = value[i];
  atomicAdd(&sum[k], v);
  atomicAdd(&sum64[k], (unsigned long long)((long long)v * v));
  atomicAdd(&total[k], (float)v);  // small whole numbers: exact in any order
  atomicInc(&count[k], 0xffffffffu);
}

__global__ void divide(const float* total, const unsigned* count, float* mean, int keys) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < keys) mean[k] = count[k] ? __fdiv_rn(total[k], (float)count[k]) : 0.0f;
}
