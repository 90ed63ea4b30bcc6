// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: ldmatrix
extern "C" __global__ void probe(unsigned* y) {
  __shared__ alignas(16) unsigned tile[512];
  tile[threadIdx.x] = y[threadIdx.x];
  __syncthreads();
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x * 4])), r0, r1, r2, r3;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(at) : "memory");
  y[threadIdx.x] = r0 + r1 + r2 + r3;
}
