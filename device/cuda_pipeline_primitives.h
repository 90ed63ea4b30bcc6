// Asynchronous copies from global to shared memory (cp.async).
#pragma once

#include <kernelwright_device.h>

#if __CUDA_ARCH__ >= 800
#define KW_COPY_ASYNC(KIND, SIZE)                                                      \
  asm volatile("cp.async." KIND ".shared.global [%0], [%1], " #SIZE ", %2;" ::"r"(to), \
               "l"(source), "r"(static_cast<unsigned>(SIZE - zero_fill))               \
               : "memory")
// size: 4, 8 or 16; the last zero_fill bytes are zeroed instead of read.
KW_FN void __pipeline_memcpy_async(void* shared, const void* source, size_t size,
                                   size_t zero_fill = 0) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if (size == 4) {
    KW_COPY_ASYNC("ca", 4);
  } else if (size == 8) {
    KW_COPY_ASYNC("ca", 8);
  } else if (size == 16) {
    KW_COPY_ASYNC("cg", 16);
  } else {
    __trap();
  }
}
#undef KW_COPY_ASYNC
KW_FN void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
KW_FN void __pipeline_wait_prior(size_t groups) {
#define KW_WAIT(N)                                            \
  case N:                                                     \
    asm volatile("cp.async.wait_group " #N ";" ::: "memory"); \
    break
  switch (groups) {
    KW_WAIT(1);
    KW_WAIT(2);
    KW_WAIT(3);
    KW_WAIT(4);
    KW_WAIT(5);
    KW_WAIT(6);
    KW_WAIT(7);
    default:
      asm volatile("cp.async.wait_all;" ::: "memory");
  }
#undef KW_WAIT
}
#else
KW_FN void __pipeline_memcpy_async(void* shared, const void* source, size_t size,
                                   size_t zero_fill = 0) {
  for (size_t i = 0; i < size; i += 4) {
    static_cast<unsigned*>(shared)[i / 4] =
        i + zero_fill < size ? static_cast<const unsigned*>(source)[i / 4] : 0;
  }
}
KW_FN void __pipeline_commit() {}
KW_FN void __pipeline_wait_prior(size_t) {}
#endif
