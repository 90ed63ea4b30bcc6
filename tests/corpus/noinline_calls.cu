//! kernelwright 1
//! task    calls
//! input   x: int32[N]
//! output  y: int64[N]
//! output  f: fp32[N]
//! when    true
//! launch  calls grid(ceil_div(N, 64)) block(64) args(x, y, f, N)

struct Pair {
  long long first;
  int second;
  float third;
};

__noinline__ __device__ Pair make(int v, float f) { return {(long long)v * v, v ^ 0x55, f + 1.0f}; }

// Recursion: a real call with a stack.
__noinline__ __device__ int gcd(int a, int b) { return b == 0 ? a : gcd(b, a % b); }

__noinline__ __device__ void scale(float* values, int count, float by) {
  for (int i = 0; i < count; ++i) values[i] = __fmul_rn(values[i], by);
}

__noinline__ __device__ int apply(int (*f)(int, int), int a, int b) { return f(a, b); }
__noinline__ __device__ int add(int a, int b) { return a + b; }
__noinline__ __device__ int mix(int a, int b) { return (a << 3) ^ b; }

__global__ void calls(const int* x, long long* y, float* f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = x[i];
  Pair p = make(v, (float)v);
  int g = gcd(v, 360360);
  int h = v & 1 ? apply(add, v, g) : apply(mix, v, g);
  y[i] = p.first + p.second + 1000000007LL * g + h;
  float local[4] = {p.third, 1.0f, 2.0f, (float)g};
  scale(local, 4, 0.5f);
  f[i] = local[v & 3];
}
