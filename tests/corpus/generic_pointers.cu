//! kernelwright 1
//! task    mixed_spaces
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  mixed_spaces grid(ceil_div(N, 64)) block(64) args(x, y, N)

__constant__ int kTable[4] = {1000, 2000, 3000, 4000};

__noinline__ __device__ int fetch(const int* p) { return *p + 1; }
__noinline__ __device__ void put(int* p, int v) { *p = v; }

// Lanes of one warp load through one pointer into global, shared, local and constant memory at the same instruction.
__global__ void mixed_spaces(const int* x, int* y, int n) {
  __shared__ int tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  int own[2] = {7 * t, 9 * t};
  tile[t] = 3 * t;
  __syncthreads();
  if (i >= n) return;
  const int* from = &x[i];
  if (t % 4 == 1) from = &tile[63 - t];
  if (t % 4 == 2) from = &own[(t / 4) % 2];
  if (t % 4 == 3) from = &kTable[(t / 4) % 4];
  int v = fetch(from);
  int kept[2] = {0, 0};
  int* to = t % 3 == 0 ? &y[i] : &kept[t % 2];
  put(to, v);
  if (t % 3 != 0) y[i] = kept[t % 2] * 2;
}
