//! kernelwright 1
//! task    mean_var
//! input   x: fp32[R, C]
//! output  mean: fp32[R]
//! output  var: fp32[R]
//! when    true
//! launch  mean_var grid(R) block(96) args(x, mean, var, C)

struct Moments {
  float mean, m2;
  int count;
};

__device__ Moments merged(Moments a, Moments b) {
  int count = a.count + b.count;
  if (count == 0) return a;
  float delta = b.mean - a.mean;
  float share = (float)b.count / count;
  return {a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share, count};
}

__device__ Moments warp_merged(Moments m) {
  for (int step = 16; step > 0; step /= 2) {
    Moments o;
    o.mean = __shfl_xor_sync(0xffffffffu, m.mean, step);
    o.m2 = __shfl_xor_sync(0xffffffffu, m.m2, step);
    o.count = __shfl_xor_sync(0xffffffffu, m.count, step);
    m = merged(m, o);
  }
  return m;
}

__global__ void mean_var(const float* x, float* mean, float* var, int cols) {
  __shared__ Moments warps[3];
  Moments m = {0.0f, 0.0f, 0};
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    float v = x[(size_t)blockIdx.x * cols + c];
    ++m.count;
    float delta = v - m.mean;
    m.mean += delta / m.count;
    m.m2 += delta * (v - m.mean);
  }
  m = warp_merged(m);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = m;
  __syncthreads();
  if (threadIdx.x == 0) {
    m = merged(merged(warps[0], warps[1]), warps[2]);
    mean[blockIdx.x] = m.mean;
    var[blockIdx.x] = m.m2 / m.count;
  }
}
