// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: global_store
// hides: barrier
extern "C" __global__ void probe(int* y) {
  y[0] = 1;
  __threadfence();
  ((volatile int*)y)[1] = 1;
  __threadfence_block();
  y[2] = 3;
}
