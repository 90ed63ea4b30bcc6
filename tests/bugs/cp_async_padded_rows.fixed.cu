//! kernelwright 1
//! task    transpose
//! input   x: int32[16, 16]
//! output  y: int32[16, 16]
//! when    true
//! launch  transpose grid(1) block(64) args(x, y)
//? dims

// Mended twin of: padding by one element breaks the alignment of copies of 16 bytes.
__global__ void transpose(const int* x, int* y) {
  __shared__ __align__(16) int tile[16][20];
  int t = threadIdx.x, row = t / 4, column = t % 4 * 4;
  unsigned to = (unsigned)__cvta_generic_to_shared(&tile[row][column]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + row * 16 + column) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (int k = 0; k < 4; ++k) y[row * 16 + column + k] = tile[column + k][row];
}
