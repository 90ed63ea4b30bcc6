// Three kernels: one block per channel for its mean, one for its variance, one thread per element
// for the result.
//! kernelwright 1
//! task    batchnorm
//! input   x: fp32[N, C, H, W]
//! input   weight: fp32[C]
//! input   bias: fp32[C]
//! output  y: fp32[N, C, H, W]
//! scratch mean: fp32[C]
//! scratch variance: fp32[C]
//! tune    THREADS in 256, 128, 512, 1024
//! launch  channel_mean grid(C) block(THREADS) args(x, mean, N, C, H * W)
//! launch  channel_variance grid(C) block(THREADS) args(x, mean, variance, N, C, H * W)
//! launch  normalise grid(ceil_div(N * C * H * W, THREADS)) block(THREADS) args(x, mean, variance, weight, bias, y, C, H * W, N * C * H * W)

__device__ float block_sum(float value, float* part) {
  part[threadIdx.x] = value;
  __syncthreads();
  for (int step = THREADS / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  return part[0];
}

__global__ void channel_mean(const float* x, float* mean, int images, int channels, int pixels) {
  __shared__ float part[THREADS];
  float sum = 0;
  for (int image = 0; image < images; ++image) {
    const float* plane = x + (static_cast<long long>(image) * channels + blockIdx.x) * pixels;
    for (int i = threadIdx.x; i < pixels; i += THREADS) sum += plane[i];
  }
  sum = block_sum(sum, part);
  if (threadIdx.x == 0) mean[blockIdx.x] = sum / (static_cast<float>(images) * pixels);
}

__global__ void channel_variance(const float* x, const float* mean, float* variance, int images,
                                 int channels, int pixels) {
  __shared__ float part[THREADS];
  const float centre = mean[blockIdx.x];
  float sum = 0;
  for (int image = 0; image < images; ++image) {
    const float* plane = x + (static_cast<long long>(image) * channels + blockIdx.x) * pixels;
    for (int i = threadIdx.x; i < pixels; i += THREADS) {
      sum += (plane[i] - centre) * (plane[i] - centre);
    }
  }
  sum = block_sum(sum, part);
  if (threadIdx.x == 0) variance[blockIdx.x] = sum / (static_cast<float>(images) * pixels);
}

__global__ void normalise(const float* x, const float* mean, const float* variance,
                          const float* weight, const float* bias, float* y, int channels,
                          int pixels, long long elements) {
  const long long i = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
  if (i >= elements) return;
  const int channel = static_cast<int>(i / pixels % channels);
  const float scale = rsqrtf(variance[channel] + 1e-5f);
  y[i] = (x[i] - mean[channel]) * scale * weight[channel] + bias[channel];
}
