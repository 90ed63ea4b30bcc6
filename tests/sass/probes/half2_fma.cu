// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: half_arithmetic fma
#include <cuda_fp16.h>
extern "C" __global__ void probe(__half2* y, __half2 a, __half2 b) { y[threadIdx.x] = __hfma2(y[threadIdx.x], a, b); }
