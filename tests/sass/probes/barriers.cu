// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: barrier barrier_arrive shared_access
extern "C" __global__ void probe(float* y) {
  __shared__ float s[256];
  s[threadIdx.x] = y[threadIdx.x];
  __syncthreads();
  float a = s[255 - threadIdx.x];
  __syncthreads();
  s[threadIdx.x] = a;
  asm volatile("barrier.sync 1, 128;" ::: "memory");
  asm volatile("barrier.arrive 2, 256;" ::: "memory");
  y[threadIdx.x] = s[threadIdx.x ^ 1];
}
