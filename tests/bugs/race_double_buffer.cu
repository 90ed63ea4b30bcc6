//! kernelwright 1
//! task    smooth
//! input   x: fp32[R, 128]
//! output  y: fp32[R, 128]
//! tune    STEPS in 4
//! when    true
//! launch  smooth grid(R) block(128) args(x, y)
//? dims R=2
//? also missing-syncwarp

// Bug: the new values go into the buffer that is being read.
__global__ void smooth(const float* x, float* y) {
  __shared__ float buffer[2][128];
  int t = threadIdx.x, now = 0;
  buffer[0][t] = buffer[1][t] = x[blockIdx.x * 128 + t];
  __syncthreads();
#pragma unroll 1
  for (int step = 0; step < STEPS; ++step) {
    float mean = 0.5f * (buffer[now][t] + buffer[now][(t + 1) % 128]);  //~ shared-race
    buffer[now][t] = mean;  //~ shared-race
    now = 1 - now;
    __syncthreads();
  }
  y[blockIdx.x * 128 + t] = buffer[now][t];
}
