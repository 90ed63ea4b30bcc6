// Addresses that a kernel sees. They are never host pointers. They lie where a driver's addresses
// lie, at places that differ from run to run. Memory is divided into slots of one size, one for
// each region: a tensor or a module variable. The windows of shared, local, param and code
// addresses follow. An object starts in the middle of its slot, so the owner of an address is known
// even far out of bounds.
#pragma once

#include <cstdint>

#include "numeric/level.h"

namespace kw::vgpu {

/// Region 0 is never an object, so null and small integers are invalid addresses.
inline constexpr uint32_t kFirstRegion = 1;
inline constexpr uint32_t kMaxRegions = 1u << 20;

inline constexpr uint32_t kSharedRegion = 0xE00001;
inline constexpr uint32_t kLocalRegion = 0xE00002;
inline constexpr uint32_t kParamRegion = 0xE00003;
inline constexpr uint32_t kCodeRegion = 0xE00004;
/// Not an address: only names the origin of an undefined value.
inline constexpr uint32_t kRegisterFile = 0xE00005;
inline constexpr uint32_t kInactiveLane = 0xE00006;  // a shuffle of a lane that does not take part
inline constexpr uint32_t kQuotient = 0xE00007;      // of an integer division by zero
/// Of an address that lies in no slot and no window.
inline constexpr uint32_t kNowhere = 0xE00008;

/// Addresses up to this far from the start of a window belong to it.
inline constexpr uint64_t kWindowReach = uint64_t{1} << 32;

class AddressMap {
 public:
  /// Where no run decides: one layout for all.
  AddressMap() : AddressMap(kFirstRegion, 0, 0, false) {}
  /// `chance`: decides the places; 0: the same in every run. `close`: no farther apart than
  /// `largest`, the size of the largest region, requires.
  AddressMap(uint32_t regions, uint64_t largest, uint64_t chance, bool close);

  uint64_t region_address(uint32_t region) const {
    return origin_ + (uint64_t{region} << shift_) + slot_bytes() / 2;
  }
  uint64_t slot_bytes() const { return uint64_t{1} << shift_; }
  /// Address of a module-level .global or .const variable. Its region number is its index plus
  /// kFirstRegion.
  uint64_t variable_address(int variable) const {
    return region_address(kFirstRegion + static_cast<uint32_t>(variable));
  }
  /// The address of a function when the kernel uses it as a value.
  uint64_t function_address(int function) const {
    return window(kCodeRegion) + 16 * (static_cast<uint64_t>(function) + 1);
  }
  /// The amount that cvta adds to an address of that space to make it generic. Global and constant
  /// addresses are generic already: 0.
  KW_LANE uint64_t window(uint32_t region) const {
    return region == 0 ? 0 : windows_[region - kSharedRegion];
  }
  KW_LANE bool is_shared(uint64_t address) const {
    return address - windows_[0] + kWindowReach < 2 * kWindowReach;
  }
  /// The number of the region; no region has it if the address lies in no slot.
  KW_LANE uint64_t slot_of(uint64_t address) const { return (address - origin_) >> shift_; }
  KW_LANE uint32_t region_of(uint64_t address) const {
    if (const uint64_t slot = slot_of(address); slot < slots_) return static_cast<uint32_t>(slot);
    for (uint32_t w = 0; w < 4; ++w) {
      if (address - windows_[w] + kWindowReach < 2 * kWindowReach) return kSharedRegion + w;
    }
    return kNowhere;
  }

 private:
  uint64_t origin_ = 0, slots_ = 0;
  int shift_ = 0;
  uint64_t windows_[4] = {};
};

/// Local and param addresses start here, so that address 0 is outside every variable.
inline constexpr uint32_t kWindowStart = 128;
/// Devices reserve the first bytes of shared memory.
inline constexpr uint32_t kSharedStart = 1024;
/// Guard bytes between two variables of a shared or local layout.
inline constexpr uint32_t kRedZone = 128;

}  // namespace kw::vgpu
