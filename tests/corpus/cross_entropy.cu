//! kernelwright 1
//! task    cross_entropy
//! input   logits: fp32[R, C]
//! input   target: int64[R]
//! output  loss: fp32[]
//! scratch rows: fp32[R]
//! when    true
//! launch  row_loss grid(R) block(64) args(logits, target, rows, C)
//! launch  mean grid(1) block(32) args(rows, loss, R)

__global__ void row_loss(const float* logits, const long long* target, float* rows, int cols) {
  __shared__ float shared[2];
  const float* in = logits + (size_t)blockIdx.x * cols;
  float top = -3.0e38f;
  for (int c = threadIdx.x; c < cols; c += 64) top = fmaxf(top, in[c]);
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = top;
  __syncthreads();
  top = fmaxf(shared[0], shared[1]);
  __syncthreads();
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 64) sum += __expf(in[c] - top);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) rows[blockIdx.x] = top + __logf(shared[0] + shared[1]) - in[target[blockIdx.x]];
}

__global__ void mean(const float* rows, float* loss, int count) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < count; i += 32) sum += rows[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) *loss = sum / count;
}
