#include "vgpu/polling.h"

#include <algorithm>
#include <string_view>

#include "core/hash.h"
#include "vgpu/block_run.h"
#include "vgpu/machine.h"

namespace kw::vgpu {
namespace {

constexpr uint32_t kSpinAfter = 8;  // equal polls before a warp counts as waiting

uint64_t hash_bytes(const void* data, size_t bytes, uint64_t seed) {
  return hash64(std::string_view(static_cast<const char*>(data), bytes), seed);
}

// Whether this poll equals the remembered one. A loop may poll several places before it polls the
// first again. So the remembered poll is replaced after 1, 2, 4, 8 … others.
bool repeats(Poll& p, const PolledValue& look, uint64_t progress) {
  if (p.progress != progress || p.power == 0) {
    p.power = 1;
    p.steps = p.repeats = 0;
    p.progress = progress;
  } else if (p.pc == look.pc && p.address == look.address && p.seen == look.seen) {
    p.distance = p.steps + 1;
    p.steps = 0;
    return true;
  } else if (++p.steps < p.power) {
    return false;
  } else {
    p.power *= 2;
    p.steps = p.repeats = 0;
  }
  p.pc = look.pc;
  p.address = look.address;
  p.seen = look.seen;
  return false;
}

// On a device a wait takes thousands of polls. Here others run at once, so waits are short, and a
// kernel could tell the two apart by counting. So one order lets some waits last long.
bool waits_on(Machine& m, Poll& p) {
  if (p.patience == 0 && m.patience > 0 && decide(m) % 4 == 0) {
    p.patience = static_cast<uint32_t>(std::min(m.patience, uint64_t{1} << decide(m) % 17));
    m.patience -= p.patience;
  }
  if (p.patience == 0) return false;
  --p.patience;
  return true;
}

}  // namespace

void poll(Machine& m, Warp& w, const PolledValue& look) {
  Poll& p = w.poll;
  ++m.looks;
  p.slept = false;
  if (!repeats(p, look, m.progress)) return;
  if (++p.repeats < kSpinAfter || waits_on(m, p)) return;
  p.repeats = kSpinAfter / 2;
  p.data = p.distance == 1 ? look.data : nullptr;
  p.bytes = look.bytes;
  w.spinning = true;
}

void poll_sleep(Machine& m, Warp& w, uint32_t pc) {
  if (w.poll.slept) poll(m, w, {pc, 0, 0, nullptr, 0});
  w.poll.slept = true;
}

bool still_waits(const ResidentBlock& block) {
  bool any = false;
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    const Warp& w = block.warps[v];
    uint32_t runnable = 0;
    for (uint32_t g = 0; g < w.group_count; ++g)
      runnable += w.groups[g].state == GroupState::Runnable ? 1 : 0;
    if (runnable == 0) continue;
    if (runnable > 1 || !w.spinning || w.poll.data == nullptr ||
        hash_bytes(w.poll.data, w.poll.bytes, 0) != w.poll.seen)
      return false;
    any = true;
  }
  return any;
}

uint64_t state_of(const ResidentBlock& block, const Warp& w, uint32_t file_bytes) {
  uint64_t hash = hash_bytes(w.regs, file_bytes, w.live);
  uint64_t groups = 0;  // a sum, so that the order of groups does not matter
  for (uint32_t g = 0; g < w.group_count; ++g) {
    const uint32_t parts[3] = {w.groups[g].pc, w.groups[g].mask,
                               static_cast<uint32_t>(w.groups[g].state)};
    groups += hash_bytes(parts, sizeof parts, 1);
  }
  hash ^= groups;
  if (!block.local_storage.empty()) {
    const size_t bytes = block.local_storage.size() / block.warp_count;
    hash = hash_bytes(w.local, bytes, hash);
  }
  return hash + block.async[w.index].pending.size();
}

uint64_t state_of(const ResidentBlock& block, uint32_t file_bytes) {
  uint64_t hash = hash_bytes(block.shared, block.shared_bytes, block.linear);
  for (uint32_t v = 0; v < block.warp_count; ++v)
    hash = (hash ^ state_of(block, block.warps[v], file_bytes)) * 0x9e3779b97f4a7c15;
  for (const auto& frames : block.saved) hash = hash_bytes(frames.data(), frames.size(), hash);
  return hash;
}

bool CycleFinder::next(uint64_t value) {
  if (started_ && value == remembered_) return true;
  if (!started_ || ++steps_ == power_) {
    if (started_) power_ *= 2;
    started_ = true;
    steps_ = 0;
    remembered_ = value;
  }
  return false;
}

}  // namespace kw::vgpu
