//! kernelwright 1
//! task    hand_over
//! input   x: int32[64]
//! output  y: int32[64]
//! scratch data: int32[64]
//! scratch flag: int32[1] = 0
//! when    true
//! launch  hand_over grid(2) block(64) args(x, data, flag, y)
//? dims

// Bug: acquire orders plain loads, not those through the read-only cache.
#include <cuda/atomic>

__global__ void hand_over(const int* x, int* data, int* flag, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = x[t];
    __syncthreads();
    if (t == 0) ready.store(1, cuda::std::memory_order_release);
  } else {
    while (ready.load(cuda::std::memory_order_acquire) == 0) {
    }
    y[t] = __ldg(data + t);  //~ stale-read-only-load
  }
}
