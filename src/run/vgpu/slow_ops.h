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
/// Calls, returns and indexed branches: puts the lanes of `mask` into groups at their new places.
void move_lanes(Machine& m, Warp& w, uint32_t pc, uint32_t mask);
/// Some lanes of the warp have just exited: a barrier may now be complete.
void exit_lanes(Machine& m, Warp& w);
/// The lanes of `mask` reach a barrier. Runnable: they need not wait.
GroupState arrive(Machine& m, Warp& w, uint32_t pc, uint32_t mask);
/// Everything else that always continues with the next instruction.
void slow_op(Machine& m, Warp& w, uint32_t pc, uint32_t mask);

/// Undefined bits: what an ALU instruction does to them, before it runs.
void taint_alu(Machine& m, Warp& w, uint32_t pc, uint32_t mask, uint32_t group);
/// Reports a guard that is undefined where it decides about more than a register.
void check_guard(Machine& m, Warp& w, uint32_t pc, uint32_t group);
void clear_shadow(Warp& w, const MemOp& op, uint32_t mask);
void copy_shadow64(Warp& w, const Inst& in, uint32_t mask);

/// Counters of an access that is not made by the warp loop itself.
void count_access(Machine& m, Warp& w, uint32_t pc, const MemOp& op, uint32_t mask);
/// The same for addresses that are not those of lanes.
void count_addresses(Machine& m, uint32_t pc, const MemOp& op, const uint64_t* addresses,
                     uint32_t mask);

}  // namespace kw::vgpu
