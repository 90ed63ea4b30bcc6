//! kernelwright 1
//! task    hand_over
//! input   x: int32[N]
//! output  y: int32[]
//! scratch flag: int32[1] = 0
//! scratch value: int32[1] = 0
//! when    true
//! launch  hand_over grid(2) block(32) args(x, flag, value, y, N)
//? dims N=64

// Bug: volatile keeps the compiler from reordering value and flag, not the memory.
__global__ void hand_over(const int* x, volatile int* flag, volatile int* value, int* y, int n) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    *value = sum;  //~ global-race-between-blocks
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    *y = *value;  //~ global-race-between-blocks
  }
}
