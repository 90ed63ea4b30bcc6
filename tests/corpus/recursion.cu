//! kernelwright 1
//! task    divide_and_conquer
//! input   x: int32[R, C]
//! output  top: int32[R]
//! output  steps: int64[R]
//! when    true
//! launch  divide_and_conquer grid(ceil_div(R, 32)) block(32) args(x, top, steps, R, C)

// Real recursion, two calls deep in each call, with values that must survive the first one; lanes differ in depth.
__noinline__ __device__ int largest(const int* row, int begin, int end) {
  if (end - begin == 1) return row[begin];
  int middle = (begin + end) / 2;
  int left = largest(row, begin, middle);
  int right = largest(row, middle, end);
  return left > right ? left : right;
}

__noinline__ __device__ long long moves(int disks) {
  if (disks == 0) return 0;
  long long before = moves(disks - 1);
  return before + 1 + moves(disks - 1);
}

__global__ void divide_and_conquer(const int* x, int* top, long long* steps, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  top[r] = largest(x + (size_t)r * cols, 0, cols);
  steps[r] = moves(r % 9);
}
