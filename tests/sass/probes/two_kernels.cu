// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: global_access
extern "C" __global__ void first(float* y) { y[threadIdx.x] += 1; }
template <int N> __global__ void second(float* y) { y[threadIdx.x] *= N; }
template __global__ void second<3>(float*);
