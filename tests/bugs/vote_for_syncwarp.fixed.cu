//! kernelwright 1
//! task    compact
//! input   x: int32[R, 32]
//! output  y: int32[R, 32]
//! when    true
//! launch  compact grid(R) block(32) args(x, y)
//? dims R=2

// Mended twin of: lanes pack their values in shared memory and read them back with only votes in between.
__global__ void compact(const int* x, int* y) {
  __shared__ int packed[32];
  int t = threadIdx.x, v = x[blockIdx.x * 32 + t];
  unsigned odd = __ballot_sync(0xffffffffu, v & 1);
  unsigned below = (1u << t) - 1;
  int at = (v & 1) ? __popc(odd & below) : __popc(odd) + __popc(~odd & below);
  packed[at] = v;
  bool any = __any_sync(0xffffffffu, v < 0);
  __syncwarp();
  y[blockIdx.x * 32 + t] = any ? packed[t] : packed[t] + 1;
}
