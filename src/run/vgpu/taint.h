// Undefined data: bits of outputs, scratch, shared and local memory and of registers nobody has
// written. A warp that loads some, or starts a function that may read some, carries a shadow of its
// register file with one bit per undefined bit, and reports only where it matters: a store to an
// output, a branch, an address.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/races.h"

namespace kw::vgpu {

/// The warp meets an undefined value, at this place of a region or window. The first one is
/// remembered for reports; memory before registers, since compilers leave registers undefined that
/// nothing uses.
void begin_taint(Machine& m, Warp& w, uint32_t pc, uint32_t region, uint64_t offset);
/// The same: `lane` shuffles a value out of a lane that does not take part.
void begin_inactive_lane(Machine& m, Warp& w, uint32_t pc, int lane, int from);
/// Back to the fast loop when no register holds undefined bits any more.
void end_taint_if_clean(const Machine& m, Warp& w);

/// The lanes of `mask` enter a function that may read these registers unwritten: they are undefined
/// (and zero, so that every run is alike).
void undefine_registers(Machine& m, Warp& w, uint32_t pc, const std::vector<SavedSlot>& slots,
                        uint32_t mask);

/// What the warp, which is tainted, knows of a register it writes.
void mark_register(Warp& w, const SavedSlot& slot, uint32_t mask, bool undefined);

void undefined_global_bits(const Region& region, uint64_t offset, uint32_t bytes, std::byte* bits);
void undefined_shared_bits(const Block& block, uint32_t offset, uint32_t bytes, std::byte* bits);
/// After a store (whose stamps are made already): `bits` of it are undefined; null: none.
void mark_global(Machine& m, const LaneAccess& access, uint32_t region, uint64_t offset,
                 const std::byte* bits);
/// `by`: the warp whose registers it comes from, null for bytes that are under way.
void mark_shared(Machine& m, const Warp* by, uint32_t offset, uint32_t bytes,
                 const std::byte* bits);

/// Whether the lane's address register is undefined; reported.
bool undefined_address(Machine& m, Warp& w, uint32_t pc, const MemOp& op, int lane);
void report_undefined(Machine& m, Warp& w, uint32_t pc, int lane, const std::string& what);

}  // namespace kw::vgpu
