//! kernelwright 1
//! task    padded_copy
//! input   x: fp32[R, C]
//! output  y: fp32[R, C]
//! scratch wide: fp32[R, 64]
//! scratch copy: fp32[R, 64]
//! when    C <= 64
//! launch  widen grid(R) block(64) args(x, wide, C)
//! launch  move grid(R) block(16) args(wide, copy)
//! launch  narrow grid(R) block(64) args(copy, y, C)

struct Padded {
  float value;
  char kind;
};

// Padding that was never set is copied along with the rest, in vectors and in structs, and never used.
__global__ void widen(const float* x, float* wide, int cols) {
  __shared__ Padded items[64];
  int t = threadIdx.x;
  Padded item;
  item.value = t < cols ? x[blockIdx.x * cols + t] : 0.0f;
  item.kind = (char)t;
  items[t] = item;
  __syncthreads();
  Padded other = items[63 - t];
  if (other.kind < cols) wide[blockIdx.x * 64 + other.kind] = other.value;
}

__global__ void move(const float* wide, float* copy) {
  int i = blockIdx.x * 16 + threadIdx.x;
  reinterpret_cast<float4*>(copy)[i] = reinterpret_cast<const float4*>(wide)[i];
}

__global__ void narrow(const float* copy, float* y, int cols) {
  int t = threadIdx.x;
  float all = copy[blockIdx.x * 64 + t] * 2.0f;
  if (t < cols) y[blockIdx.x * cols + t] = all;
}
