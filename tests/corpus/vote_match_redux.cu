//! kernelwright 1
//! task    warp_votes
//! input   x: int32[N]
//! output  y: uint32[10, N]
//! when    N % 32 == 0
//! launch  warp_votes grid(ceil_div(N, 64)) block(min(N, 64)) args(x, y, N)

__global__ void warp_votes(const int* x, unsigned* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;  // whole warps leave
  const unsigned all = 0xffffffffu;
  int v = x[i], lane = threadIdx.x % 32;
  int agree;
  y[0 * n + i] = __all_sync(all, v > -50);
  y[1 * n + i] = __any_sync(all, v == 3);
  y[2 * n + i] = __ballot_sync(all, v & 1);
  y[3 * n + i] = __match_any_sync(all, v & 7);
  unsigned same = __match_all_sync(all, v >> 31, &agree);
  y[4 * n + i] = same + (unsigned)agree * 7u;
  y[5 * n + i] = __reduce_add_sync(all, (unsigned)v);
  y[6 * n + i] = (unsigned)__reduce_min_sync(all, v) ^ (unsigned)__reduce_max_sync(all, v);
  y[7 * n + i] = __reduce_and_sync(all, (unsigned)v) + __reduce_xor_sync(all, (unsigned)v);
  unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  if (lane < 16) {
    y[8 * n + i] = __reduce_or_sync(half, (unsigned)v);
  } else {
    y[8 * n + i] = __reduce_add_sync(half, (unsigned)v * 3u);
  }
  y[9 * n + i] = (unsigned)__shfl_sync(all, v, (lane * 5 + 1) % 32, 8) + (unsigned)__shfl_down_sync(all, v, 3, 16);
}
