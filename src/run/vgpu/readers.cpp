// A list has one node for the lanes of a warp that read at one time. A lane that reads again needs
// only its last read: what is ordered after that is ordered after the earlier ones. Such nodes are
// removed whenever a list has doubled its length, so that loops without a barrier of the whole
// block keep short lists. When there are too many nodes, further readers are forgotten: that may
// miss a race but never invents one.
#include "vgpu/readers.h"

#include <unordered_map>

#include "vgpu/machine.h"

namespace kw::vgpu {
namespace {

constexpr int kCountShift = 32;  // the upper half of a list's word: how many nodes it has had
constexpr uint64_t kFirstPrune = 8;
constexpr size_t kMaxNodes = size_t{1} << 22;

namespace st = shared_stamp;

/// Lanes of a warp that newer nodes have.
struct Newer {
  uint32_t weak = 0, any = 0;
};

}  // namespace

void ReaderLists::push(uint64_t& list, uint64_t stamp, uint32_t lanes) {
  uint32_t at = free_;
  if (at != 0) {
    free_ = nodes_[at].next;
  } else {
    if (nodes_.size() >= kMaxNodes) return;
    at = static_cast<uint32_t>(nodes_.size());
    nodes_.emplace_back();
  }
  nodes_[at] = {stamp, lanes, static_cast<uint32_t>(list)};
  uint64_t count = (list >> kCountShift) + 1;
  if (count >= kFirstPrune && (count & (count - 1)) == 0) count = prune(at);
  list = count << kCountShift | at;
}

// Removes lanes from nodes where a newer node has them. Returns how many nodes are left.
uint32_t ReaderLists::prune(uint32_t head) {
  std::unordered_map<uint64_t, Newer> seen;
  uint32_t count = 0, last = 0;
  for (uint32_t at = head; at != 0;) {
    Readers& node = nodes_[at];
    const uint32_t next = node.next;
    const bool strong = (node.stamp & st::kStrong) != 0;
    Newer& newer = seen[warp_of_(node.stamp)];
    node.lanes &= ~(strong ? newer.any : newer.weak);
    if (node.lanes == 0) {
      nodes_[last].next = next;  // not the head: nothing is newer
      node.next = free_;
      free_ = at;
    } else {
      newer.any |= node.lanes;
      if (!strong) newer.weak |= node.lanes;
      last = at;
      ++count;
    }
    at = next;
  }
  return count;
}

void ReaderLists::drop(uint64_t list) {
  for (auto at = static_cast<uint32_t>(list); at != 0;) {
    const uint32_t next = nodes_[at].next;
    nodes_[at].next = free_;
    free_ = at;
    at = next;
  }
}

uint64_t ReaderLists::copy(uint64_t list) {
  uint64_t made = 0;
  for (auto at = static_cast<uint32_t>(list); at != 0; at = nodes_[at].next)
    push(made, nodes_[at].stamp, nodes_[at].lanes);
  return made;
}

void ReaderLists::clear() {
  nodes_.resize(1);
  free_ = 0;
}

void SharedReaders::make_lists() {
  for (const ReadRun& run : runs_) {
    if (heads_.size() < run.unit + run.units) heads_.resize(run.unit + run.units);
    const uint32_t lanes = ~0u >> (kLanes - run.together), first = st::thread(run.stamp) % kLanes;
    for (uint32_t i = 0; i < run.units; ++i) {
      uint64_t& head = heads_[run.unit + i];
      if (head == 0) listed_.push_back(run.unit + i);
      lists_.add(head, run.stamp, lanes << (first + (i >> run.per_lane)));
    }
  }
  runs_.clear();
}

void SharedReaders::clear_lists() {
  for (const uint32_t unit : listed_) heads_[unit] = 0;
  listed_.clear();
  lists_.clear();
}

void SharedReaders::forget(uint32_t unit) {
  make_lists();
  if (unit >= heads_.size()) return;
  lists_.drop(heads_[unit]);
  heads_[unit] = 0;
}

void note_reader(Machine& m, MemoryRegion& region, uint64_t unit, uint64_t stamp) {
  namespace st = global_stamp;
  uint64_t& first = region.reads[unit];
  uint64_t& list = region.readers[unit];
  const Block& block = *m.block;
  const uint32_t number = st::segment(first);
  const bool settled =
      number < m.launch_segment || (number >= block.ordered_low && number < block.ordered_high);
  if (settled) {
    first = stamp;
    return;
  }
  if ((first & st::kSpread) == 0) {
    const bool own = m.segments[number - m.launch_segment].block == block.linear &&
                     st::thread(first) == st::thread(stamp);
    if (own) {
      first = stamp & (~st::kStrong | first);
      return;
    }
    list = 0;
    m.reader_lists->add(list, first, 1u << (st::thread(first) % kLanes));
    first |= st::kManyBlocks;
  }
  m.reader_lists->add(list, stamp, 1u << (st::thread(stamp) % kLanes));
}

void separate_lists(Machine& m, MemoryRegion& region, int factor_log2) {
  namespace st = global_stamp;
  if (region.reads == nullptr || factor_log2 <= 0) return;
  const uint64_t units = (region.size + (uint64_t{1} << region.unit_log2) - 1) >> region.unit_log2;
  for (uint64_t unit = 0; unit < units; ++unit) {
    const bool copied = (unit & ((uint64_t{1} << factor_log2) - 1)) != 0;
    const uint64_t first = region.reads[unit];
    if (copied && st::segment(first) >= m.launch_segment && (first & st::kSpread) != 0)
      region.readers[unit] = m.reader_lists->copy(region.readers[unit]);
  }
}

}  // namespace kw::vgpu
