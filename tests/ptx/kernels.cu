// Small kernels of the usual kinds, for the virtual GPU's tests and benchmark without any compiler at hand.
// kernels.nvcc_sm_80.ptx is: nvcc -ptx -arch=sm_80 -lineinfo kernels.cu

extern "C" __global__ void axpb4(const float4* x, float4* y, int n, float a, float b) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = x[i];
    v.x = a * v.x + b;
    v.y = a * v.y + b;
    v.z = a * v.z + b;
    v.w = a * v.w + b;
    y[i] = v;
  }
}

extern "C" __global__ void gelu(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  y[i] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
}

__device__ float block_sum(float v, float* shared) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  __syncthreads();
  if (lane == 0) shared[warp] = v;
  __syncthreads();
  v = lane < blockDim.x / 32 ? shared[lane] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}

// One block per row.
extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int d, float eps) {
  __shared__ float shared[32];
  const float4* row = reinterpret_cast<const float4*>(x + static_cast<long long>(blockIdx.x) * d);
  float4* out = reinterpret_cast<float4*>(y + static_cast<long long>(blockIdx.x) * d);
  float sum = 0;
  for (int i = threadIdx.x; i < d / 4; i += blockDim.x) {
    const float4 v = row[i];
    sum += v.x + v.y + v.z + v.w;
  }
  const float mean = block_sum(sum, shared) / d;
  float squares = 0;
  for (int i = threadIdx.x; i < d / 4; i += blockDim.x) {
    const float4 v = row[i];
    const float a = v.x - mean, b = v.y - mean, c = v.z - mean, e = v.w - mean;
    squares += a * a + b * b + c * c + e * e;
  }
  const float scale = rsqrtf(block_sum(squares, shared) / d + eps);
  const float4* g = reinterpret_cast<const float4*>(gamma);
  const float4* h = reinterpret_cast<const float4*>(beta);
  for (int i = threadIdx.x; i < d / 4; i += blockDim.x) {
    const float4 v = row[i], w = g[i], z = h[i];
    out[i] = make_float4((v.x - mean) * scale * w.x + z.x, (v.y - mean) * scale * w.y + z.y,
                         (v.z - mean) * scale * w.z + z.z, (v.w - mean) * scale * w.w + z.w);
  }
}

// One block per row, maximum and sum in one pass, through dynamic shared memory.
extern "C" __global__ void softmax(const float* x, float* y, int d) {
  extern __shared__ float part[];
  float* maxima = part;
  float* sums = part + blockDim.x;
  const float* row = x + static_cast<long long>(blockIdx.x) * d;
  float m = -INFINITY, s = 0;
  for (int i = threadIdx.x; i < d; i += blockDim.x) {
    const float v = row[i], n = fmaxf(m, v);
    s = s * __expf(m - n) + __expf(v - n);
    m = n;
  }
  maxima[threadIdx.x] = m;
  sums[threadIdx.x] = s;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const float a = maxima[threadIdx.x], b = maxima[threadIdx.x + half], n = fmaxf(a, b);
      sums[threadIdx.x] = sums[threadIdx.x] * __expf(a - n) + sums[threadIdx.x + half] * __expf(b - n);
      maxima[threadIdx.x] = n;
    }
    __syncthreads();
  }
  const float top = maxima[0], total = 1.0f / sums[0];
  for (int i = threadIdx.x; i < d; i += blockDim.x)
    y[static_cast<long long>(blockIdx.x) * d + i] = __expf(row[i] - top) * total;
}

// c = a b, square, 16x16 tiles.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[16][16], tb[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    ta[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void histogram(const unsigned char* x, unsigned int* bins, int n) {
  __shared__ unsigned int local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

// Inclusive scan of 1024 elements per block (Hillis and Steele), two buffers.
extern "C" __global__ void scan(const int* x, int* y, int n) {
  __shared__ int buffer[2][1024];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int from = 0;
  buffer[0][threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    int v = buffer[from][threadIdx.x];
    if (threadIdx.x >= step) v += buffer[from][threadIdx.x - step];
    buffer[1 - from][threadIdx.x] = v;
    from = 1 - from;
    __syncthreads();
  }
  if (i < n) y[i] = buffer[from][threadIdx.x];
}

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns) {
  __shared__ float tile[32][33];
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = x[(row + j) * columns + column];
  __syncthreads();
  const int c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) y[(r + j) * rows + c] = tile[threadIdx.x][threadIdx.y + j];
}

// Sum by the last block to finish.
extern "C" __global__ void last_block(const float* x, float* parts, unsigned int* ticket, float* y, int n) {
  __shared__ float shared[32];
  __shared__ bool last;
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
  v = block_sum(v, shared);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = v;
    __threadfence();
    last = atomicAdd(ticket, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  v = threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0.0f;
  v = block_sum(v, shared);
  if (threadIdx.x == 0) {
    *y = v;
    *ticket = 0;
  }
}
