// Groups of any lanes of a warp: those that run together, and the parts of a tile that agree in a
// predicate or a label. Included by cooperative_groups.h.
#pragma once

#include <kernelwright_device.h>

namespace cooperative_groups {

class coalesced_group {
 public:
  KW_METHOD explicit coalesced_group(unsigned mask, unsigned among = 0, unsigned groups = 1)
      : mask_(mask), among_(among), groups_(groups) {}
  KW_METHOD unsigned thread_rank() const {
    return static_cast<unsigned>(__popc(mask_ & ((1u << kw_lane()) - 1)));
  }
  KW_METHOD unsigned size() const { return static_cast<unsigned>(__popc(mask_)); }
  KW_METHOD unsigned num_threads() const { return size(); }
  KW_METHOD unsigned meta_group_rank() const { return among_; }
  KW_METHOD unsigned meta_group_size() const { return groups_; }
  KW_METHOD unsigned kw_mask() const { return mask_; }
  KW_METHOD void sync() const { __syncwarp(mask_); }
  template <typename T>
  KW_METHOD T shfl(T value, int rank) const {
    return kw_moved(value, [&](auto part) KW_LAMBDA {
      return __shfl_sync(mask_, part, kw_lane_of(static_cast<unsigned>(rank)));
    });
  }
  template <typename T>
  KW_METHOD T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return kw_moved(value, [&](auto part) KW_LAMBDA {
      return __shfl_sync(mask_, part, kw_lane_of(rank >= delta ? rank - delta : rank));
    });
  }
  template <typename T>
  KW_METHOD T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return kw_moved(value, [&](auto part) KW_LAMBDA {
      return __shfl_sync(mask_, part, kw_lane_of(rank + delta < size() ? rank + delta : rank));
    });
  }
  KW_METHOD int any(int predicate) const { return __any_sync(mask_, predicate); }
  KW_METHOD int all(int predicate) const { return __all_sync(mask_, predicate); }
  KW_METHOD unsigned ballot(int predicate) const {
    return kw_pack(__ballot_sync(mask_, predicate));
  }
  template <typename T>
  KW_METHOD unsigned match_any(T value) const {
    return kw_pack(__match_any_sync(mask_, value));
  }

 private:
  KW_METHOD int kw_lane_of(unsigned rank) const {
    unsigned left = mask_;
    for (unsigned i = 0; i < rank; ++i) left &= left - 1;
    return __ffs(static_cast<int>(left)) - 1;
  }
  // Bits of lanes -> bits of ranks.
  KW_METHOD unsigned kw_pack(unsigned lanes) const {
    unsigned packed = 0, rank = 0;
    for (unsigned left = mask_; left != 0; left &= left - 1, ++rank) {
      packed |= (lanes >> (__ffs(static_cast<int>(left)) - 1) & 1u) << rank;
    }
    return packed;
  }
  unsigned mask_;
  unsigned among_, groups_;  // which of how many parts of a group
};
KW_FN coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }
template <typename Group>
KW_FN coalesced_group binary_partition(const Group& group, bool predicate) {
  const unsigned all = group.kw_mask(), yes = __ballot_sync(all, predicate);
  if (yes == all || yes == 0) return coalesced_group(all);
  return coalesced_group(predicate ? yes : all & ~yes, predicate, 2);
}
// Parts are numbered by their first lanes.
template <typename Group, typename Label>
KW_FN coalesced_group labeled_partition(const Group& group, Label label) {
  if constexpr (__is_same(Label, bool)) {
    return binary_partition(group, label);
  } else {
    const unsigned all = group.kw_mask(), same = __match_any_sync(all, label);
    const unsigned first = static_cast<unsigned>(__ffs(static_cast<int>(same))) - 1;
    const unsigned firsts = __ballot_sync(all, first == kw_lane());
    return coalesced_group(same, static_cast<unsigned>(__popc(firsts & ((1u << first) - 1))),
                           static_cast<unsigned>(__popc(firsts)));
  }
}

}  // namespace cooperative_groups
