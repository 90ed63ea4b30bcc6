//! kernelwright 1
//! task    talkative
//! input   x: int64[4]
//! output  y: int64[4]
//! when    true
//! launch  talkative grid(1) block(4) args(x, y)

__global__ void talkative(const long long* x, long long* y) {
  int t = threadIdx.x;
  y[t] = x[t];
  if (t != 0) return;
  printf("[%5d|%-5d|%05d|%+d]\n", 42, 42, 42, 42);
  printf("[%lld %llu %x %X %o %#x]\n", x[0], (unsigned long long)x[1], 255u, 255u, 8u, 255u);
  printf("[%8.3f|%-8.2e|%g|%.0f]\n", 3.14159, 31415.9, 0.0001, 2.5);
  printf("[%c%c %s %10s|%-4s|%.2s %%]\n", 'o', 'k', "text", "right", "l", "cut");
  printf("no arguments\n");
}
