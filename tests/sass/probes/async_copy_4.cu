// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: cp_async async_copy
extern "C" __global__ void probe(const float* x, float* y) {
  __shared__ float tile[256];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + threadIdx.x) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  y[threadIdx.x] = tile[255 - threadIdx.x];
}
