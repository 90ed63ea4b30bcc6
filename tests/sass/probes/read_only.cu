// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: read_only_load
extern "C" __global__ void probe(const float* __restrict__ x, float* __restrict__ y, const int* __restrict__ at) {
  y[threadIdx.x] = __ldg(x + at[threadIdx.x]);
}
