// arch: sm_90a sm_100a sm_120a
// shows: pdl
extern "C" __global__ void probe(float* y) {
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  y[threadIdx.x] += 1;
}
