//! kernelwright 1
//! task    locked_lists
//! input   key: int32[N]
//! output  sum: int32[K]
//! output  count: int32[K]
//! when    N <= 128 && K <= 16
//! launch  locked_lists grid(1) block(128) args(key, sum, count, N, K)

// Every lane takes a lock of its own bucket; lanes of one warp contend, which needs independent thread progress.
__global__ void locked_lists(const int* key, int* sum, int* count, int n, int keys) {
  __shared__ int lock[16];
  __shared__ volatile int sums[16];
  __shared__ volatile int counts[16];
  int t = threadIdx.x;
  if (t < 16) {
    lock[t] = 0;
    sums[t] = 0;
    counts[t] = 0;
  }
  __syncthreads();
  if (t < n) {
    int k = key[t];
    bool done = false;
    while (!done) {
      if (atomicCAS(&lock[k], 0, 1) == 0) {
        __threadfence_block();
        sums[k] = sums[k] + t;
        counts[k] = counts[k] + 1;
        __threadfence_block();
        atomicExch(&lock[k], 0);
        done = true;
      }
    }
  }
  __syncthreads();
  if (t < keys) {
    sum[t] = sums[t];
    count[t] = counts[t];
  }
}
