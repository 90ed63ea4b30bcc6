// arch: sm_90a sm_100a sm_120a
// shows: tma
struct alignas(64) Map { char b[128]; };
extern "C" __global__ void probe(const __grid_constant__ Map map, int* y) {
  __shared__ alignas(128) int tile[1024];
  tile[threadIdx.x] = y[threadIdx.x];
  const unsigned t = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" :: "l"(&map), "r"(0), "r"(blockIdx.x), "r"(t) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
