// alignas in every place CUDA takes it.
template <typename T, int N>
struct alignas(sizeof(T) * N) Vec {
  T v[N];
};
struct alignas(float4) Q {
  float a[4];
};
static_assert(alignof(Vec<float, 4>) == 16 && alignof(Q) == 16 && sizeof(Vec<short, 2>) == 4);
template <typename T>
__global__ void alignment(float* y) {
  extern __shared__ alignas(128) unsigned char smem[];
  alignas(16) float z[4] = {1, 2, 3, y[1]};
  __shared__ alignas(T) T t;
  t = y[2];
  y[0] = smem[3] + z[static_cast<int>(y[3])] + t + reinterpret_cast<Vec<float, 4>*>(y)[1].v[2];
}
template __global__ void alignment<double>(float*);
