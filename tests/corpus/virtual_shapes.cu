//! kernelwright 1
//! task    areas
//! input   kind: int32[N]
//! input   size: fp32[N, 2]
//! output  y: fp32[N]
//! when    true
//! launch  areas grid(ceil_div(N, 64)) block(64) args(kind, size, y, N)

// Virtual functions and a lambda: indirect calls through tables the compiler makes.
struct Shape {
  float a, b;
  __device__ Shape(float first, float second) : a(first), b(second) {}
  __device__ virtual float area() const = 0;
};
struct Box : Shape {
  using Shape::Shape;
  __device__ float area() const override { return __fmul_rn(a, b); }
};
struct Triangle : Shape {
  using Shape::Shape;
  __device__ float area() const override { return __fmul_rn(__fmul_rn(a, b), 0.5f); }
};
struct Ring : Box {
  using Box::Box;
  __device__ float area() const override { return __fsub_rn(__fmul_rn(a, a), __fmul_rn(b, b)); }
};

__noinline__ __device__ float measure(const Shape& shape) { return shape.area(); }

__global__ void areas(const int* kind, const float* size, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Box box(size[2 * i], size[2 * i + 1]);
  Triangle triangle(size[2 * i], size[2 * i + 1]);
  Ring ring(size[2 * i], size[2 * i + 1]);
  const Shape* shapes[3] = {&box, &triangle, &ring};
  auto twice = [&](float v) { return __fmul_rn(v, kind[i] == 2 ? 2.0f : 1.0f); };
  y[i] = twice(measure(*shapes[kind[i]]));
}
