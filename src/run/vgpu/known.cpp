#include "vgpu/known.h"

#include <algorithm>

namespace kw::vgpu {
namespace {

constexpr int kStep = 4;  // bits of a block number per level
constexpr int kTop = 28;  // shift of the uppermost level
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

/// Inner nodes have children, leaves have covers.
struct Known::Node {
  std::vector<Part> children;
  BlockCovers covers;
};

Known::Part Known::joined(const Part& a, const Part& b) {
  if (b == nullptr || a == b) return a;
  if (a == nullptr) return b;
  auto made = std::make_shared<Node>();
  if (a->children.empty()) {
    made->covers = join_covers(a->covers, b->covers);
    if (made->covers == a->covers) return a;
    return made->covers == b->covers ? b : made;
  }
  made->children.resize(kFan);
  bool same_a = true, same_b = true;
  for (size_t i = 0; i < kFan; ++i) {
    made->children[i] = joined(a->children[i], b->children[i]);
    same_a = same_a && made->children[i] == a->children[i];
    same_b = same_b && made->children[i] == b->children[i];
  }
  if (same_a) return a;
  return same_b ? b : made;
}

void Known::join(uint32_t block, const BlockCovers& covers) {
  if (covers.empty()) return;
  auto path = std::make_shared<Node>();
  path->covers = covers;
  for (int shift = 0; shift <= kTop; shift += kStep) {
    auto above = std::make_shared<Node>();
    above->children.resize(kFan);
    above->children[block >> shift & (kFan - 1)] = std::move(path);
    path = std::move(above);
  }
  root_ = joined(root_, path);
}

bool Known::covers(uint32_t block, uint32_t thread, uint32_t time) const {
  const Node* at = root_.get();
  for (int shift = kTop; at != nullptr && shift >= 0; shift -= kStep)
    at = at->children[block >> shift & (kFan - 1)].get();
  return at != nullptr && at->covers.covers(thread, time);
}

}  // namespace kw::vgpu
