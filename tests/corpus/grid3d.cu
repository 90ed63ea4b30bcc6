//! kernelwright 1
//! task    index_volume
//! input   x: int16[D, H, W]
//! output  y: int32[D, H, W]
//! when    true
//! launch  index_volume grid(ceil_div(W, 4), ceil_div(H, 2), ceil_div(D, 3)) block(4, 2, 3) args(x, y, D, H, W)

__global__ void index_volume(const short* x, int* y, int depth, int height, int width) {
  dim3 at(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
          blockIdx.z * blockDim.z + threadIdx.z);
  if (at.x >= width || at.y >= height || at.z >= depth) return;
  int i = (at.z * height + at.y) * width + at.x;
  y[i] = x[i] * 1000 + (int)(at.x + 10 * at.y + 100 * at.z) + (int)(gridDim.x + gridDim.y + gridDim.z);
}
