// Undefined data: bits of outputs, scratch, shared and local memory and of registers that were
// never written. A warp that loads such bits, or starts a function that may read them, gets a
// shadow of its register file. The shadow has one bit per register bit. Only uses that matter are
// reported: a store to an output, a branch, an address.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/races.h"

namespace kw::vgpu {

/// Notes that the warp read an undefined value at this place of a region or window. The first
/// origin is kept for reports. Memory takes precedence over registers, because compilers leave
/// unused registers undefined.
void begin_taint(Machine& m, Warp& w, uint32_t pc, uint32_t region, uint64_t offset);
/// Notes that `lane` shuffles a value from a lane that does not take part.
void begin_inactive_lane(Machine& m, Warp& w, uint32_t pc, int lane, int from);
/// Returns the warp to the fast loop when no register holds undefined bits any more.
void end_taint_if_clean(const Machine& m, Warp& w);

/// The lanes of `mask` enter a function that may read these registers before it writes them. Marks
/// them as undefined and sets them to zero, so that every run gives the same result.
void undefine_registers(Machine& m, Warp& w, uint32_t pc, const std::vector<SavedSlot>& slots,
                        uint32_t mask);

/// Sets whether a register that the tainted warp writes is undefined.
void mark_register(Warp& w, const SavedSlot& slot, uint32_t mask, bool undefined);

void undefined_global_bits(const MemoryRegion& region, uint64_t offset, uint32_t bytes,
                           std::byte* bits);
void undefined_shared_bits(const Block& block, uint32_t offset, uint32_t bytes, std::byte* bits);
/// To be called after a store, when its stamps are made. `bits` marks its undefined bits; null:
/// none.
void mark_global(Machine& m, const LaneAccess& access, uint32_t region, uint64_t offset,
                 const std::byte* bits);
/// `by`: the warp that stored its registers; null for bytes of an asynchronous copy.
void mark_shared(Machine& m, const Warp* by, uint32_t offset, uint32_t bytes,
                 const std::byte* bits);

/// Whether the lane's address register is undefined. Reports it if so.
bool undefined_address(Machine& m, Warp& w, uint32_t pc, const MemOp& op, int lane);
void report_undefined(Machine& m, Warp& w, uint32_t pc, int lane, const std::string& what);

}  // namespace kw::vgpu
