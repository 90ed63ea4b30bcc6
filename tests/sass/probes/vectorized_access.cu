// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: wide_global global_access global_store
extern "C" __global__ void probe(const float4* x, float4* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float4 v = x[i]; v.x += 1; v.y += 1; v.z += 1; v.w += 1; y[i] = v; }
}
