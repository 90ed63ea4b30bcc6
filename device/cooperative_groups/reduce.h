// reduce() over a tile or the coalesced threads: every thread gets the result.
#pragma once

#include <cooperative_groups.h>

namespace cooperative_groups {

template <typename T = void>
struct plus {
  KW_METHOD T operator()(T a, T b) const { return a + b; }
};
template <typename T = void>
struct less {
  KW_METHOD T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T = void>
struct greater {
  KW_METHOD T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T = void>
struct bit_and {
  KW_METHOD T operator()(T a, T b) const { return a & b; }
};
template <typename T = void>
struct bit_or {
  KW_METHOD T operator()(T a, T b) const { return a | b; }
};
template <typename T = void>
struct bit_xor {
  KW_METHOD T operator()(T a, T b) const { return a ^ b; }
};

template <unsigned kSize, typename Parent, typename T, typename Op>
KW_FN T reduce(const thread_block_tile<kSize, Parent>& tile, T value, Op&& op) {
#pragma unroll
  for (unsigned offset = kSize / 2; offset > 0; offset /= 2)
    value = op(value, tile.shfl_xor(value, offset));
  return value;
}
template <typename T, typename Op>
KW_FN T reduce(const coalesced_group& group, T value, Op&& op) {
  const unsigned rank = group.thread_rank(), size = group.size();
  for (unsigned offset = 1; offset < size; offset *= 2) {
    const T other = group.shfl_down(value, offset);
    if (rank + offset < size) value = op(value, other);
  }
  return group.shfl(value, 0);
}

}  // namespace cooperative_groups
