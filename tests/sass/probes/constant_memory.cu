// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: global_access
// hides: read_only_load
__constant__ float table[256];
extern "C" __global__ void probe(float* y, int k) { y[threadIdx.x] *= table[k] + table[(k + threadIdx.x) & 255]; }
