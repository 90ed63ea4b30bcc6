// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: global_access
// hides: wide_global local_access hinted_access fma half_arithmetic
extern "C" __global__ void probe(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1;
}
