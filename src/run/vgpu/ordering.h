// Which accesses are ordered before which, inside a block and between blocks. It keeps block time,
// vector clocks of warps, and the releases and acquires of blocks through memory.
#pragma once

#include <cstdint>

#include "vgpu/inst.h"

namespace kw::vgpu {

struct Machine;
struct Block;
struct Warp;

/// Gives the running block a new segment number for its next stamps.
void open_segment(Machine& m);

/// Starts a new block time if an access was stamped with the current one. Returns the block time.
uint32_t advance_time(Machine& m);

/// Orders these lanes of the warp, after a collective or __syncwarp.
void sync_warp(Machine& m, Warp& warp, uint32_t lanes);
/// Orders all threads, after a barrier in which all live threads of the block took part.
void sync_block(Machine& m);
/// __threadfence and its relatives. It publishes nothing by itself, but makes the next strong write
/// a release.
void fence(Machine& m, MemoryScope scope);
/// To be called for each strong write or atomic.
void publish(Machine& m, const MemOp& op);
/// To be called for each strong read or atomic of this warp.
void acquire(Machine& m, Warp& warp, const MemOp& op);

/// To be called when the block has ended. Its acquires are not needed any more; its releases are
/// kept.
void forget_acquires(Machine& m, const Block& block);

/// Whether accesses of `thread` stamped with `time` in the running block are ordered before the
/// next access of `lane` of the warp `by`.
bool ordered_in_block(const Block& block, const Warp& by, int lane, uint32_t thread, uint32_t time);
/// Whether another block published its access in `segment` and the running block has acquired it.
bool ordered_between_blocks(const Machine& m, uint32_t segment);
/// Whether that block has published anything after that access. Then a race is only suspected.
bool published(const Machine& m, uint32_t segment);

}  // namespace kw::vgpu
