//! kernelwright 1
//! task    shift_left
//! inout   x: int32[R, 128]
//! when    true
//! launch  shift_left grid(R) block(128) args(x)
//? dims R=2

// Bug: the row is shifted in place; a warp may overwrite what its neighbour has yet to read.
__global__ void shift_left(int* x) {
  int t = threadIdx.x;
  int* row = x + blockIdx.x * 128;
  int v = row[(t + 1) % 128];  //~ global-race-in-block
  row[t] = v;  //~ global-race-in-block
}
