// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: atomic
extern "C" __global__ void probe(const float* x, float* sum, int* slot) {
  atomicAdd(sum, x[threadIdx.x]);
  slot[threadIdx.x] = atomicAdd(slot + 1024, 1);
}
