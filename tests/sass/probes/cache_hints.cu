// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: hinted_access wide_global
extern "C" __global__ void probe(const float4* x, float4* y) {
  __stcs(y + threadIdx.x, __ldcs(x + threadIdx.x));
  __stcg(y + threadIdx.x + 512, __ldcg(x + threadIdx.x + 512));
  y[threadIdx.x + 1024] = __ldlu(x + threadIdx.x + 1024);
}
