// Cooperative groups: thread block, tiles of up to 32 threads, coalesced threads, the grid and its
// barrier.
#pragma once

#include <kernelwright_device.h>

namespace cooperative_groups {

KW_FN unsigned kw_lane() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
KW_FN unsigned kw_block_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
KW_FN unsigned kw_block_threads() { return blockDim.x * blockDim.y * blockDim.z; }

class thread_block {
 public:
  KW_METHOD static void sync() { __syncthreads(); }
  KW_METHOD static unsigned thread_rank() { return kw_block_rank(); }
  KW_METHOD static unsigned size() { return kw_block_threads(); }
  KW_METHOD static unsigned num_threads() { return kw_block_threads(); }
  KW_METHOD static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  KW_METHOD static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  KW_METHOD static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  KW_METHOD static dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
};
KW_FN thread_block this_thread_block() { return {}; }

// The barrier's word lies in the workspace a cooperative launch provides (%envreg1, %envreg2). Its
// top bit flips when all blocks have arrived: one of them adds what the others leave to 2^31.
class grid_group {
 public:
  KW_METHOD static bool is_valid() { return kw_workspace() != 0; }
  KW_METHOD static void sync() {
    if (!is_valid()) __trap();
    __syncthreads();
    if (kw_block_rank() == 0) kw_meet();
    __syncthreads();
  }
  KW_METHOD static unsigned long long size() { return num_blocks() * kw_block_threads(); }
  KW_METHOD static unsigned long long num_threads() { return size(); }
  KW_METHOD static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  KW_METHOD static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
           blockIdx.x;
  }
  KW_METHOD static unsigned long long thread_rank() {
    return block_rank() * kw_block_threads() + kw_block_rank();
  }
  KW_METHOD static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  KW_METHOD static dim3 dim_blocks() { return group_dim(); }
  KW_METHOD static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }

 private:
  KW_METHOD static unsigned long long kw_workspace() {
    unsigned high, low;
    asm volatile("mov.u32 %0, %%envreg1;" : "=r"(high));
    asm volatile("mov.u32 %0, %%envreg2;" : "=r"(low));
    return static_cast<unsigned long long>(high) << 32 | low;
  }
  KW_METHOD static void kw_meet() {
    const unsigned long long word = kw_workspace() + 4;
    const unsigned others = static_cast<unsigned>(num_blocks()) - 1;
    const unsigned add = block_rank() == 0 ? 0x80000000u - others : 1u;
    unsigned before, now;
    __threadfence();
    asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(word), "r"(add)
                 : "memory");
    do {
      asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(word) : "memory");
    } while (((before ^ now) & 0x80000000u) == 0);
    __threadfence();
  }
};
KW_FN grid_group this_grid() { return {}; }

// Structures are passed word by word.
template <typename T, typename Move>
KW_FN T kw_moved(const T& value, Move move) {
  if constexpr (__is_class(T) && sizeof(T) % 4 == 0) {
    struct Words {
      unsigned word[sizeof(T) / 4];
    };
    Words words = __builtin_bit_cast(Words, value);
#pragma unroll
    for (unsigned& word : words.word) word = move(word);
    return __builtin_bit_cast(T, words);
  } else {
    return move(value);
  }
}

template <unsigned kSize, typename Parent = void>
class thread_block_tile;
template <unsigned kSize>
class thread_block_tile<kSize, void> {
  static_assert(kSize <= 32 && (kSize & (kSize - 1)) == 0,
                "tiles of more than 32 threads " KW_NEEDS_NVRTC);

 public:
  KW_METHOD static unsigned thread_rank() { return kw_lane() & (kSize - 1); }
  KW_METHOD static constexpr unsigned size() { return kSize; }
  KW_METHOD static constexpr unsigned num_threads() { return kSize; }
  KW_METHOD static unsigned meta_group_rank() { return kw_block_rank() / kSize; }
  KW_METHOD static unsigned meta_group_size() { return (kw_block_threads() + kSize - 1) / kSize; }
  KW_METHOD static void sync() { __syncwarp(kw_mask()); }
  template <typename T>
  KW_METHOD static T shfl(T value, int rank) {
    return kw_moved(value,
                    [&](auto part) KW_LAMBDA { return __shfl_sync(kw_mask(), part, rank, kSize); });
  }
  template <typename T>
  KW_METHOD static T shfl_up(T value, unsigned delta) {
    return kw_moved(
        value, [&](auto part) KW_LAMBDA { return __shfl_up_sync(kw_mask(), part, delta, kSize); });
  }
  template <typename T>
  KW_METHOD static T shfl_down(T value, unsigned delta) {
    return kw_moved(value, [&](auto part) KW_LAMBDA {
      return __shfl_down_sync(kw_mask(), part, delta, kSize);
    });
  }
  template <typename T>
  KW_METHOD static T shfl_xor(T value, unsigned mask) {
    return kw_moved(value, [&](auto part) KW_LAMBDA {
      return __shfl_xor_sync(kw_mask(), part, static_cast<int>(mask), kSize);
    });
  }
  KW_METHOD static int any(int predicate) { return __any_sync(kw_mask(), predicate); }
  KW_METHOD static int all(int predicate) { return __all_sync(kw_mask(), predicate); }
  KW_METHOD static unsigned ballot(int predicate) {
    return __ballot_sync(kw_mask(), predicate) >> kw_first();
  }
  template <typename T>
  KW_METHOD static unsigned match_any(T value) {
    return __match_any_sync(kw_mask(), value) >> kw_first();
  }
  template <typename T>
  KW_METHOD static unsigned match_all(T value, int& all_equal) {
    return __match_all_sync(kw_mask(), value, &all_equal) >> kw_first();
  }

  KW_METHOD static unsigned kw_mask() {
    return kSize == 32 ? 0xffffffffu : ((1u << (kSize & 31)) - 1) << kw_first();
  }

 private:
  KW_METHOD static unsigned kw_first() { return kw_lane() & ~(kSize - 1); }
};
// A tile of a parent is a tile: only the type of the parent is kept.
template <unsigned kSize, typename Parent>
class thread_block_tile : public thread_block_tile<kSize, void> {
 public:
  KW_METHOD static unsigned meta_group_rank() { return Parent::thread_rank() / kSize; }
  KW_METHOD static unsigned meta_group_size() { return (Parent::size() + kSize - 1) / kSize; }
};
template <unsigned kSize, typename Parent>
KW_FN thread_block_tile<kSize, Parent> tiled_partition(const Parent&) {
  return {};
}

}  // namespace cooperative_groups

#include <kw/coalesced_group.h>

namespace cooperative_groups {

template <typename Group>
KW_FN void sync(const Group& group) {
  group.sync();
}
template <typename Group>
KW_FN auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <typename Group>
KW_FN auto group_size(const Group& group) {
  return group.size();
}
template <typename Group, typename Fn, typename... Args>
KW_FN void invoke_one(const Group& group, Fn&& fn, Args&&... args) {
  if (group.thread_rank() == 0) fn(static_cast<Args&&>(args)...);
}

}  // namespace cooperative_groups
