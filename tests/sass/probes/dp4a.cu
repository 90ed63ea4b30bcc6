// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: global_access
// hides: int8_mma
extern "C" __global__ void probe(int* y) { y[threadIdx.x] = __dp4a(y[threadIdx.x], y[threadIdx.x + 256], 7); }
