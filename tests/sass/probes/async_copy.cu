// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: cp_async async_copy cp_async_wait barrier shared_access
extern "C" __global__ void probe(const float4* x, float* y) {
  __shared__ float4 tile[256];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + threadIdx.x) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  y[threadIdx.x] = tile[255 - threadIdx.x].x;
}
