// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: shuffle
extern "C" __global__ void probe(int* y) { y[threadIdx.x] = __reduce_add_sync(0xffffffffu, y[threadIdx.x]); }
