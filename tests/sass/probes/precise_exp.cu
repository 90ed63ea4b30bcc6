// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: exp2_unit special float_arithmetic fma
extern "C" __global__ void probe(float* y) { y[threadIdx.x] = expf(y[threadIdx.x]); }
