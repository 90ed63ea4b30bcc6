// Cached loads and stores of every type, atomics of every scope, warp and block functions.

template <typename T>
__device__ void touch(T* p) {
  T v = __ldg(p);
  __stcg(p, v);
  v = __ldcs(p + 1);
  __stcs(p, v);
  v = __ldcg(p + 2);
  __stwt(p, v);
  v = __ldca(p + 3);
  __stwb(p, v);
  v = __ldcv(p + 4);
  __stcg(p + 1, v);
  v = __ldlu(p + 5);
  __stcg(p + 2, v);
}
__global__ void caches(void* p) {
  touch(static_cast<char*>(p));
  touch(static_cast<signed char*>(p));
  touch(static_cast<unsigned char*>(p));
  touch(static_cast<short*>(p));
  touch(static_cast<unsigned short*>(p));
  touch(static_cast<int*>(p));
  touch(static_cast<unsigned*>(p));
  touch(static_cast<long*>(p));
  touch(static_cast<unsigned long*>(p));
  touch(static_cast<long long*>(p));
  touch(static_cast<unsigned long long*>(p));
  touch(static_cast<float*>(p));
  touch(static_cast<double*>(p));
  touch(static_cast<char2*>(p));
  touch(static_cast<uchar2*>(p));
  touch(static_cast<short2*>(p));
  touch(static_cast<ushort2*>(p));
  touch(static_cast<int2*>(p));
  touch(static_cast<uint2*>(p));
  touch(static_cast<long2*>(p));
  touch(static_cast<ulong2*>(p));
  touch(static_cast<longlong2*>(p));
  touch(static_cast<ulonglong2*>(p));
  touch(static_cast<float2*>(p));
  touch(static_cast<double2*>(p));
  touch(static_cast<char4*>(p));
  touch(static_cast<uchar4*>(p));
  touch(static_cast<short4*>(p));
  touch(static_cast<ushort4*>(p));
  touch(static_cast<int4*>(p));
  touch(static_cast<uint4*>(p));
  touch(static_cast<float4*>(p));
}

template <typename T>
__device__ T integers(T* p, T v) {
  T r = atomicAdd(p, v) + atomicSub(p, v) + atomicMin(p, v) + atomicMax(p, v) + atomicAnd(p, v) +
        atomicOr(p, v);
  r += atomicXor(p, v) + atomicExch(p, v) + atomicCAS(p, v, r);
  r += atomicAdd_block(p, v) + atomicCAS_block(p, v, r) + atomicMax_block(p, v);
  return r + atomicAdd_system(p, v) + atomicExch_system(p, v);
}
__global__ void atomics(void* p, float* f, double* d, unsigned* u) {
  integers(static_cast<int*>(p), 3);
  integers(static_cast<unsigned*>(p), 3u);
  integers(static_cast<long long*>(p), 3ll);
  integers(static_cast<unsigned long long*>(p), 3ull);
  f[0] = atomicAdd(f, 1.0f) + atomicExch(f, 2.0f) + atomicAdd_block(f, 1.0f);
  d[0] = atomicAdd(d, 1.0) + atomicExch(d, 2.0);
  u[1] = atomicInc(u, 7) + atomicDec(u, 7) + atomicInc_block(u, 3);
}

template <typename T>
__device__ T shuffles(T v) {
  v += __shfl_sync(~0u, v, 3) + __shfl_up_sync(~0u, v, 1u) + __shfl_down_sync(~0u, v, 1u, 16);
  return v + __shfl_xor_sync(~0u, v, 4);
}
__global__ void warps(int* y, float* f, double* d) {
  int all = 0;
  const int v = shuffles(y[threadIdx.x]);
  y[0] = __ballot_sync(~0u, v) + __any_sync(~0u, v) + __all_sync(~0u, v) + __uni_sync(~0u, v) +
         __activemask();
  y[1] =
      __match_any_sync(~0u, v) + __match_all_sync(~0u, v, &all) + __match_any_sync(~0u, d[0]) + all;
#if __CUDA_ARCH__ >= 800
  y[2] = __reduce_add_sync(~0u, v) + __reduce_max_sync(~0u, 3u) + __reduce_xor_sync(~0u, 5u);
#endif
  f[0] = shuffles(f[1]);
  d[0] = shuffles(d[1]) + shuffles(7ll) + shuffles(8ull) + shuffles(2u);
  __syncwarp();
  __syncwarp(0xffff);
}
__global__ void __launch_bounds__(256, 2) blocks(int* y, const int n) {
  __shared__ int s[256];
  extern __shared__ float dynamic[];
  s[threadIdx.x] = n;
  __syncthreads();
  y[0] = __syncthreads_count(n) + __syncthreads_and(n) + __syncthreads_or(n) + s[threadIdx.x ^ 1];
  __threadfence_block();
  __threadfence();
  __threadfence_system();
  const uint3 t = threadIdx;
  const dim3 g = gridDim;
  y[1] = t.x + g.z + blockIdx.y + blockDim.z + warpSize + __isShared(s) + __isGlobal(y);
  y[2] =
      static_cast<int>(__cvta_generic_to_shared(dynamic)) + static_cast<int>(clock64()) + clock();
  if (n < 0) __trap();
  __nanosleep(20);
  if (n == 1) printf("block %d of %u: %f %s\n", n, g.x, 1.5, "text");
}
