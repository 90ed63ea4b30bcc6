// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: branch fma
extern "C" __global__ void probe(const float* x, float* y, int n, int m) {
  float total = 0;
  for (int i = 0; i < n; ++i) {
    float row = 0;
#pragma unroll 1
    for (int j = 0; j < m; ++j) row += x[i * m + j] * total;
    total += row;
  }
  y[threadIdx.x] = total;
}
