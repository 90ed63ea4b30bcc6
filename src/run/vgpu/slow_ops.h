// The instructions that are not executed inside the warp loop, and the exact versions of those that
// are.
#pragma once

#include <cstdint>

#include "vgpu/inst.h"
#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;

/// Any load or store, lane by lane, with every check, findings and undefined bits.
void access_exact(Machine& m, Warp& w, uint32_t pc, const MemOp& op, uint32_t mask);
void run_atomic(Machine& m, Warp& w, uint32_t pc, uint32_t mask);
/// Calls, returns and indexed branches: puts the lanes of `mask` into groups at their new pcs.
void move_lanes(Machine& m, Warp& w, uint32_t pc, uint32_t mask);
/// Some lanes of the warp have just exited, so a barrier may now be complete.
void exit_lanes(Machine& m, Warp& w);
/// The lanes of `mask` reach a barrier. Returns Runnable when they do not need to wait.
GroupState arrive(Machine& m, Warp& w, uint32_t pc, uint32_t mask);
/// All other instructions that always continue with the next one.
void slow_op(Machine& m, Warp& w, uint32_t pc, uint32_t mask);

/// Computes the undefined bits of an ALU instruction's results. To be called before it runs.
void taint_alu(Machine& m, Warp& w, uint32_t pc, uint32_t mask, uint32_t group);
/// The lanes in which the last source of a division is zero, and what that means for its result.
uint32_t zero_lanes(const Warp& w, const Inst& in, const isa::Alu& alu, uint32_t mask);
void undefine_quotient(Machine& m, Warp& w, uint32_t pc, uint32_t lanes);
/// Reports an undefined guard if it decides about more than a register.
void check_guard(Machine& m, Warp& w, uint32_t pc, uint32_t group);
void clear_shadow(Warp& w, const MemOp& op, uint32_t mask);
void copy_shadow64(Warp& w, const Inst& in, uint32_t mask);

/// Counts an access that the warp loop does not make itself.
void count_access(Machine& m, Warp& w, uint32_t pc, const MemOp& op, uint32_t mask);
/// The same for addresses that are not those of lanes.
void count_addresses(Machine& m, uint32_t pc, const MemOp& op, const uint64_t* addresses,
                     uint32_t mask);

}  // namespace kw::vgpu
