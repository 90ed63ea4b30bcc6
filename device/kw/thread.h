// The position of a thread, and the barriers of a block.
#pragma once

#include <kw/base.h>
#include <kw/vector_types.h>

#define KW_COMPONENT(C, REGISTER)                    \
  __declspec(property(get = kw_get_##C)) unsigned C; \
  KW_METHOD unsigned kw_get_##C() const { return __nvvm_read_ptx_sreg_##REGISTER##_##C(); }
#define KW_INDEX(TYPE, REGISTER)                              \
  struct TYPE {                                               \
    KW_COMPONENT(x, REGISTER)                                 \
    KW_COMPONENT(y, REGISTER)                                 \
    KW_COMPONENT(z, REGISTER)                                 \
    KW_METHOD operator uint3() const { return {x, y, z}; }    \
    KW_METHOD operator dim3() const { return dim3(x, y, z); } \
    TYPE() = delete;                                          \
    TYPE(const TYPE&) = delete;                               \
  };

KW_INDEX(kw_thread_index, tid)
KW_INDEX(kw_block_index, ctaid)
KW_INDEX(kw_block_size, ntid)
KW_INDEX(kw_grid_size, nctaid)
#undef KW_INDEX
#undef KW_COMPONENT

// Never defined: only their properties are used.
extern const __device__ __attribute__((weak)) kw_thread_index threadIdx;
extern const __device__ __attribute__((weak)) kw_block_index blockIdx;
extern const __device__ __attribute__((weak)) kw_block_size blockDim;
extern const __device__ __attribute__((weak)) kw_grid_size gridDim;
constexpr int warpSize = 32;

KW_FN int __syncthreads_count(int predicate) {
  int count;
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %1, 0;\n\tbar.red.popc.u32 %0, 0, p;\n\t}"
               : "=r"(count)
               : "r"(predicate)
               : "memory");
  return count;
}
#define KW_BARRIER_VOTE(NAME, OP)                                                \
  KW_FN int NAME(int predicate) {                                                \
    int all;                                                                     \
    asm volatile("{\n\t.reg .pred p, q;\n\tsetp.ne.s32 p, %1, 0;\n\tbar.red." OP \
                 ".pred q, 0, p;\n\tselp.s32 %0, 1, 0, q;\n\t}"                  \
                 : "=r"(all)                                                     \
                 : "r"(predicate)                                                \
                 : "memory");                                                    \
    return all;                                                                  \
  }
KW_BARRIER_VOTE(__syncthreads_and, "and")
KW_BARRIER_VOTE(__syncthreads_or, "or")
#undef KW_BARRIER_VOTE
KW_FN void __barrier_sync(unsigned id) { asm volatile("barrier.sync %0;" ::"r"(id) : "memory"); }
KW_FN void __barrier_sync_count(unsigned id, unsigned count) {
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}

KW_FN void __threadfence_block() { asm volatile("membar.cta;" ::: "memory"); }
KW_FN void __threadfence() { asm volatile("membar.gl;" ::: "memory"); }
KW_FN void __threadfence_system() { asm volatile("membar.sys;" ::: "memory"); }

KW_FN void __trap() { asm volatile("trap;"); }
KW_FN void __brkpt() { asm volatile("brkpt;"); }
KW_FN void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }
KW_FN long long clock64() {
  long long value;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(value)::"memory");
  return value;
}
KW_FN int clock() {
  int value;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(value)::"memory");
  return value;
}
KW_FN unsigned long long __globaltimer() {
  unsigned long long value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
  return value;
}
