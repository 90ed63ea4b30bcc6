//! kernelwright 1
//! task    attention
//! input   q: fp32[H, T, D]
//! input   k: fp32[H, T, D]
//! input   v: fp32[H, T, D]
//! output  o: fp32[H, T, D]
//! tune    CAUSAL in 1, 0
//! when    D <= 64
//! launch  attention grid(T, H) block(64) args(q, k, v, o, T, D)

// One block per query; keys are visited one after another and the weighted sum is rescaled as the maximum grows.
__global__ void attention(const float* q, const float* k, const float* v, float* o, int length, int width) {
  __shared__ float halves[2];
  int t = threadIdx.x;
  size_t head = (size_t)blockIdx.y * length * width;
  size_t mine = head + (size_t)blockIdx.x * width;
  float qv = t < width ? q[mine + t] * rsqrtf((float)width) : 0.0f;
  float top = -3.0e38f, sum = 0.0f, acc = 0.0f;
  int last = CAUSAL ? (int)blockIdx.x : length - 1;
  for (int j = 0; j <= last; ++j) {
    size_t at = head + (size_t)j * width;
    float s = t < width ? qv * k[at + t] : 0.0f;
    for (int step = 16; step > 0; step /= 2) s += __shfl_xor_sync(0xffffffffu, s, step);
    __syncthreads();
    if (t % 32 == 0) halves[t / 32] = s;
    __syncthreads();
    s = halves[0] + halves[1];
    float m = fmaxf(top, s);
    float keep = __expf(top - m), p = __expf(s - m);
    sum = sum * keep + p;
    if (t < width) acc = acc * keep + p * v[at + t];
    top = m;
  }
  if (t < width) o[mine + t] = acc / sum;
}
