//! kernelwright 1
//! task    stack_machine
//! input   op: int32[N]
//! input   a: int32[N]
//! input   b: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  stack_machine grid(ceil_div(N, 96)) block(96) args(op, a, b, y, N)

__global__ void stack_machine(const int* op, const int* a, const int* b, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int u = a[i], v = b[i], r = 0;
  switch (op[i]) {
    case 0: r = u + v; break;
    case 1: r = u - v; break;
    case 2: r = u * v; break;
    case 3: for (int k = 0; k < (v & 15); ++k) r += u ^ k; break;
    case 4: r = v ? u / v : -1; break;
    case 5: r = v ? u % v : u; break;
    case 6: r = u << (v & 31); break;
    case 7: r = u >> (v & 31); break;
    case 8: r = __popc(u) * __popc(v); break;
    case 9: r = min(u, v); // and on into the next case
    case 10: r += max(u, v); break;
    case 11: r = (u & v) | (~u & (v >> 1)); break;
    default: r = -op[i];
  }
  y[i] = r;
}
