//! kernelwright 1
//! task    int8_matmul
//! input   a: int8[M, K]
//! input   bt: int8[N, K]
//! output  c: int32[M, N]
//! when    K % 4 == 0
//! launch  int8_matmul grid(ceil_div(N, 16), ceil_div(M, 8)) block(16, 8) args(a, bt, c, M, N, K / 4)

__global__ void int8_matmul(const signed char* a, const signed char* bt, int* c, int M, int N, int words) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  const int* left = reinterpret_cast<const int*>(a) + (size_t)row * words;
  const int* right = reinterpret_cast<const int*>(bt) + (size_t)col * words;
  int sum = 0;
  for (int k = 0; k < words; ++k) sum = __dp4a(left[k], right[k], sum);
  c[(size_t)row * N + col] = sum;
}
