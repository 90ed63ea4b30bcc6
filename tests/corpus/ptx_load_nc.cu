//! kernelwright 1
//! task    sum_of_four
//! input   x: fp32[N, 4]
//! output  y: fp32[N]
//! when    true
//! launch  sum_of_four grid(ceil_div(N, 128)) block(128) args(x, y, N)

__global__ void sum_of_four(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a, b, c, d;
  asm("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
      : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
      : "l"(x + 4 * (size_t)i));
  float s;
  asm("{\n\t"
      ".reg .f32 t;\n\t"
      "add.rn.f32 t, %1, %2;\n\t"
      "add.rn.f32 t, t, %3;\n\t"
      "add.rn.f32 %0, t, %4;\n\t"
      "}"
      : "=f"(s)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(y + i), "f"(s) : "memory");
}
