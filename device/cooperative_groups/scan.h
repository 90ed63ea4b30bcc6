// inclusive_scan() and exclusive_scan() over a tile or the coalesced threads.
#pragma once

#include <cooperative_groups/reduce.h>

namespace cooperative_groups {

template <typename Group, typename T, typename Op>
KW_FN T inclusive_scan(const Group& group, T value, Op&& op) {
  const unsigned rank = group.thread_rank(), size = group.size();
  for (unsigned offset = 1; offset < size; offset *= 2) {
    const T other = group.shfl_up(value, offset);
    if (rank >= offset) value = op(other, value);
  }
  return value;
}
template <typename Group, typename T>
KW_FN T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
template <typename Group, typename T, typename Op>
KW_FN T exclusive_scan(const Group& group, T value, Op&& op) {
  const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
  return group.thread_rank() == 0 ? T{} : before;
}
template <typename Group, typename T>
KW_FN T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
