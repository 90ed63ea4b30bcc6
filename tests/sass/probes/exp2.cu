// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: exp2_unit special
// hides: fma half_arithmetic
extern "C" __global__ void probe(float* y) { y[threadIdx.x] = exp2f(y[threadIdx.x]); }
