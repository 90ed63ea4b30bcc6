// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: integer_division
extern "C" __global__ void probe(unsigned* y, unsigned n) { y[threadIdx.x] = y[threadIdx.x] / n; }
