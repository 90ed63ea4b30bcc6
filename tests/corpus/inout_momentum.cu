//! kernelwright 1
//! task    momentum_step
//! inout   w: fp32[N]
//! inout   m: fp32[N]
//! input   g: fp32[N]
//! scalar  lr: fp32 = 0.125
//! scalar  beta: fp32 = 0.75
//! when    true
//! launch  momentum_step grid(ceil_div(N, 64)) block(64) args(w, m, g, N, lr, beta)

__global__ void momentum_step(float* w, float* m, const float* g, int n, float lr, float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float velocity = fmaf(beta, m[i], g[i]);
  m[i] = velocity;
  w[i] = fmaf(-lr, velocity, w[i]);
}
