// Observed on an H200 with driver 580: cudaMalloc gives addresses like 0x7f283fe00000, at multiples
// of 512 bytes and within some gigabytes of each other. The window of shared memory begins at a
// multiple of 4 GiB near them, and its first variable at offset 1024. All differ from process to
// process. Wide slots name the owner of any address that a 32-bit index can reach. Close slots are
// for runs that must look like a device in the distances too.
#include "vgpu/address.h"

#include <algorithm>
#include <bit>

namespace kw::vgpu {
namespace {

constexpr uint64_t kTop = uint64_t{0x7fe0} << 32;
constexpr int kWideShift = 36, kCloseShift = 21, kAddressBits = 46;
constexpr uint64_t kWindowStep = 3 * kWindowReach;  // no window reaches the next
constexpr uint64_t kPage = uint64_t{1} << 21;

// A number below `limit` that seems random.
uint64_t drawn(uint64_t& chance, uint64_t limit) {
  if (chance == 0) return 0;
  chance = chance * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  return (chance >> 20) % limit;
}

}  // namespace

AddressMap::AddressMap(uint32_t regions, uint64_t largest, uint64_t chance, bool close)
    : slots_(regions) {
  const int needed = static_cast<int>(std::bit_width(largest)) + 2;
  const int wide = std::min(kWideShift, kAddressBits - static_cast<int>(std::bit_width(slots_)));
  shift_ = std::max(needed, close ? kCloseShift : wide);
  const uint64_t windows = 8 * kWindowStep, all = (slots_ << shift_) + windows;
  // Few programs are too large for the addresses of a driver; theirs begin above.
  const uint64_t low = all < kTop ? kTop - all : kTop;
  const uint64_t slack = std::min(low / 256, uint64_t{1} << 39);
  origin_ = (low - drawn(chance, slack / kPage) * kPage) / kPage * kPage;
  uint64_t at = (origin_ + (slots_ << shift_) + kWindowReach) / kWindowReach * kWindowReach;
  for (uint64_t& window : windows_) {
    at += kWindowStep;
    window = at;
  }
  at = drawn(chance, 4);
  std::rotate(windows_, windows_ + at, windows_ + 4);
  for (int w = 1; w < 4; ++w) windows_[w] += drawn(chance, 64) << 24;
}

}  // namespace kw::vgpu
