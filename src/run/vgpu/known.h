// What a thread knows of the accesses that others made before a release. It is a vector clock over
// blocks and, where needed, over their warps and threads. Copies share their parts, so that a flag
// which thousands of blocks pass on costs little.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "vgpu/state.h"

namespace kw::vgpu {

/// Accesses of one block that are known: those stamped with an earlier block time.
struct BlockCovers {
  uint32_t all = 0;  // of all its threads
  /// Sorted by key. Key below kLanes: a warp; otherwise kLanes + a thread. Times are above `all`.
  std::vector<std::pair<uint32_t, uint32_t>> more;

  bool empty() const { return all == 0 && more.empty(); }
  void add(uint32_t key, uint32_t time);
  bool covers(uint32_t thread, uint32_t time) const;
  friend bool operator==(const BlockCovers&, const BlockCovers&) = default;
};

class Known {
 public:
  bool empty() const { return root_ == nullptr; }
  void join(const Known& other) { root_ = joined(root_, other.root_, 0); }
  void join(uint32_t block, const BlockCovers& covers);
  bool covers(uint32_t block, uint32_t thread, uint32_t time) const;

 private:
  struct Node;
  using Part = std::shared_ptr<const Node>;
  static Part joined(const Part& a, const Part& b, int shift);

  Part root_;
};

}  // namespace kw::vgpu
