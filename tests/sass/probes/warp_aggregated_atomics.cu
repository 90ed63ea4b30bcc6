// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: shuffle vote atomic
extern "C" __global__ void probe(const int* x, int* n, int* y) {
  if (x[threadIdx.x] > 0) {
    const unsigned mask = __activemask();
    const int lane = threadIdx.x & 31, leader = __ffs(mask) - 1;
    int at = 0;
    if (lane == leader) at = atomicAdd(n, __popc(mask));
    at = __shfl_sync(mask, at, leader);
    y[at + __popc(mask & ((1u << lane) - 1))] = x[threadIdx.x];
  }
}
