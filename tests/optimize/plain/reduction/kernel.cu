// Every block adds up one piece of the vector, one element per thread, with a tree in shared
// memory; a single block adds up the pieces.
//! kernelwright 1
//! task    reduction
//! input   x: fp32[N]
//! output  total: fp32[]
//! let     BLOCKS = ceil_div(N, THREADS)
//! scratch pieces: fp32[BLOCKS]
//! tune    THREADS in 256, 128, 512, 1024
//! launch  add_piece grid(BLOCKS) block(THREADS) args(x, pieces, N)
//! launch  add_pieces grid(1) block(THREADS) args(pieces, total, BLOCKS)

__device__ float block_sum(float value, float* part) {
  part[threadIdx.x] = value;
  __syncthreads();
  for (int step = THREADS / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  return part[0];
}

__global__ void add_piece(const float* x, float* pieces, long long n) {
  __shared__ float part[THREADS];
  const long long i = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
  const float sum = block_sum(i < n ? x[i] : 0.0f, part);
  if (threadIdx.x == 0) pieces[blockIdx.x] = sum;
}

__global__ void add_pieces(const float* pieces, float* total, long long blocks) {
  __shared__ float part[THREADS];
  float sum = 0;
  for (long long i = threadIdx.x; i < blocks; i += THREADS) sum += pieces[i];
  sum = block_sum(sum, part);
  if (threadIdx.x == 0) *total = sum;
}
