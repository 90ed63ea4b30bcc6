//! kernelwright 1
//! task    find_first
//! input   x: int32[N]
//! output  y: int32[]
//! scratch seen: int32[N]
//! when    true
//! launch  mark grid(ceil_div(N, 64)) block(64) args(x, seen, N)
//! launch  pick_one grid(1) block(1) args(seen, y, N)
//? dims N=150

// Mended twin of: only positive elements are marked; the others decide a branch with what was in the scratch.
__global__ void mark(const int* x, int* seen, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) seen[i] = x[i] > 0;
}

__global__ void pick_one(const int* seen, int* y, int n) {
  int found = -1;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    if (seen[i] == 1) {
      found = i;
      break;
    }
  }
  *y = found;
}
