// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: fma
extern "C" __global__ void probe(double* y, double a) { y[threadIdx.x] = fma(y[threadIdx.x], a, 1.0); }
