// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: atomic shared_access
extern "C" __global__ void probe(const int* x, int* y) {
  __shared__ int bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[x[threadIdx.x] & 255], 1);
  __syncthreads();
  y[threadIdx.x] = bins[threadIdx.x];
}
