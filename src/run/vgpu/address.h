// Addresses that a kernel sees. They are never host pointers: the upper 24 bits name a region. A
// region is a tensor, a module variable, or one of the shared, local, param and code windows. So
// the owner of an address is known even far out of bounds.
#pragma once

#include <cstdint>

namespace kw::vgpu {

inline constexpr int kRegionShift = 40;
/// An object starts in the middle of its region, so that negative indices stay inside the region.
inline constexpr uint64_t kRegionBase = uint64_t{1} << 39;
/// Region 0 is never an object, so null and small integers are invalid addresses.
inline constexpr uint32_t kFirstRegion = 1;
inline constexpr uint32_t kMaxRegions = 1u << 20;

inline constexpr uint32_t kSharedRegion = 0xE00001;
inline constexpr uint32_t kLocalRegion = 0xE00002;
inline constexpr uint32_t kParamRegion = 0xE00003;
inline constexpr uint32_t kCodeRegion = 0xE00004;
/// Not an address: only names the origin of an undefined value.
inline constexpr uint32_t kRegisterFile = 0xE00005;
inline constexpr uint32_t kQuotient = 0xE00007;      // of an integer division by zero
inline constexpr uint32_t kInactiveLane = 0xE00006;  // a shuffle of a lane that does not take part

constexpr uint64_t region_address(uint32_t region) {
  return (uint64_t{region} << kRegionShift) + kRegionBase;
}
constexpr uint32_t region_of(uint64_t address) {
  return static_cast<uint32_t>(address >> kRegionShift);
}

/// The amount that cvta adds to an address of that space to make it generic. Global and constant
/// addresses are generic already.
inline constexpr uint64_t kSharedWindow = region_address(kSharedRegion);
inline constexpr uint64_t kLocalWindow = region_address(kLocalRegion);
inline constexpr uint64_t kParamWindow = region_address(kParamRegion);
inline constexpr uint64_t kCodeWindow = region_address(kCodeRegion);

/// Address of a module-level .global or .const variable. Its region number is its index plus
/// kFirstRegion.
constexpr uint64_t variable_address(int variable) {
  return region_address(kFirstRegion + static_cast<uint32_t>(variable));
}
/// The address of a function when the kernel uses it as a value.
constexpr uint64_t function_address(int function) {
  return kCodeWindow + 16 * (static_cast<uint64_t>(function) + 1);
}

/// Shared, local and param addresses start here, so that address 0 is outside every variable.
inline constexpr uint32_t kWindowStart = 128;
/// Guard bytes between two variables of a shared or local layout.
inline constexpr uint32_t kRedZone = 128;

}  // namespace kw::vgpu
