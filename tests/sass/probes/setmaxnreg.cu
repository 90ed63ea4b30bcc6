// arch: sm_90a sm_100a sm_120a
// shows: setmaxnreg
extern "C" __global__ void __launch_bounds__(384, 1) probe(float* y) {
  if (threadIdx.x < 128) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  else asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  y[threadIdx.x] += 1;
}
