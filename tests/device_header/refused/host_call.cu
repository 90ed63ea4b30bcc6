// expect: call to __host__ function from __global__ function
float on_the_host(float x) { return x; }
__global__ void k(float* y) { y[0] = on_the_host(y[1]); }
