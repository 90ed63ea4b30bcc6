// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: shared_access barrier
// hides: local_access
extern "C" __global__ void probe(const float* x, float* y) {
  __shared__ float t[32][33];
  t[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  y[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
