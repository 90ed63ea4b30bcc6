#include "vgpu/known.h"

#include <algorithm>

namespace kw::vgpu {
namespace {

constexpr int kStep = 4;  // bits of a block number per level, the lowest ones first
constexpr size_t kFan = size_t{1} << kStep;

BlockCovers join_covers(const BlockCovers& a, const BlockCovers& b) {
  BlockCovers out;
  out.all = std::max(a.all, b.all);
  for (const BlockCovers* side : {&a, &b}) {
    for (const auto& [key, time] : side->more) out.add(key, time);
  }
  return out;
}

}  // namespace

void BlockCovers::add(uint32_t key, uint32_t time) {
  if (time <= all) return;
  const auto at = std::ranges::lower_bound(more, key, {}, &std::pair<uint32_t, uint32_t>::first);
  if (at != more.end() && at->first == key)
    at->second = std::max(at->second, time);
  else
    more.insert(at, {key, time});
}

bool BlockCovers::covers(uint32_t thread, uint32_t time) const {
  if (time < all) return true;
  return std::ranges::any_of(more, [&](const auto& part) {
    return time < part.second && (part.first == thread / kLanes || part.first == kLanes + thread);
  });
}

/// Inner nodes have children. A leaf stands as far up as no other block is below.
struct Known::Node {
  std::vector<Part> children;
  uint32_t block = 0;
  BlockCovers covers;

  bool leaf() const { return children.empty(); }
  /// The part that stands for these bits of the block number.
  static Part below(const Part& at, size_t digit, int shift) {
    if (!at->leaf()) return at->children[digit];
    return (at->block >> shift & (kFan - 1)) == digit ? at : nullptr;
  }
};

Known::Part Known::joined(const Part& a, const Part& b, int shift) {
  if (b == nullptr || a == b) return a;
  if (a == nullptr) return b;
  auto made = std::make_shared<Node>();
  if (a->leaf() && b->leaf() && a->block == b->block) {
    made->block = a->block;
    made->covers = join_covers(a->covers, b->covers);
    if (made->covers == a->covers) return a;
    return made->covers == b->covers ? b : made;
  }
  made->children.resize(kFan);
  bool same_a = !a->leaf(), same_b = !b->leaf();
  for (size_t i = 0; i < kFan; ++i) {
    const Part of_a = Node::below(a, i, shift), of_b = Node::below(b, i, shift);
    made->children[i] = joined(of_a, of_b, shift + kStep);
    same_a = same_a && made->children[i] == of_a;
    same_b = same_b && made->children[i] == of_b;
  }
  if (same_a) return a;
  return same_b ? b : made;
}

void Known::join(uint32_t block, const BlockCovers& covers) {
  if (covers.empty()) return;
  auto leaf = std::make_shared<Node>();
  leaf->block = block;
  leaf->covers = covers;
  root_ = joined(root_, leaf, 0);
}

bool Known::covers(uint32_t block, uint32_t thread, uint32_t time) const {
  const Node* at = root_.get();
  for (int shift = 0; at != nullptr && !at->leaf(); shift += kStep)
    at = at->children[block >> shift & (kFan - 1)].get();
  return at != nullptr && at->block == block && at->covers.covers(thread, time);
}

}  // namespace kw::vgpu
