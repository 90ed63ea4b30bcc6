// arch: sm_90a
// shows: local_access
extern "C" __global__ void __launch_bounds__(1024, 2) probe(const float* x, float* y) {
  float v[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) v[i] = x[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 96; ++i) y[i * 1024 + threadIdx.x] = v[95 - i] * v[(i * 7) % 96];
}
