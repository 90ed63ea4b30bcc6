//! kernelwright 1
//! task    flood_fill
//! input   wall: bool[H, W]
//! output  reach: int32[H, W]
//! when    H * W <= 1024
//! launch  flood_fill grid(1) block(W, H) shared(4 * H * W) args(wall, reach)

// Labels spread until nothing changes; the block votes in a loop whose length depends on the data.
__global__ void flood_fill(const bool* wall, int* reach) {
  extern __shared__ int label[];
  int cx = threadIdx.x, cy = threadIdx.y, width = blockDim.x, height = blockDim.y;
  int at = cy * width + cx;
  bool open = !wall[at];
  label[at] = open ? at : 1 << 20;
  __syncthreads();
  int changed;
  do {
    int best = label[at];
    if (open) {
      if (cx > 0) best = min(best, label[at - 1]);
      if (cx + 1 < width) best = min(best, label[at + 1]);
      if (cy > 0) best = min(best, label[at - width]);
      if (cy + 1 < height) best = min(best, label[at + width]);
    }
    changed = __syncthreads_or(open && best < label[at]);
    if (open) label[at] = best;
    __syncthreads();
  } while (changed);
  reach[at] = open ? label[at] : -1;
}
