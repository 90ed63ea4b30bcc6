// Which accesses are ordered before which, inside a block and between blocks. It keeps block time,
// vector clocks of warps, and the releases and acquires of blocks through memory.
#pragma once

#include <cstdint>

#include "vgpu/inst.h"

namespace kw::vgpu {

struct Machine;
struct Block;
struct ResidentBlock;
struct Warp;
enum class AccessKind : uint8_t;

/// Gives the running block a new segment number for its next stamps.
void open_segment(Machine& m);

/// Starts a new block time if an access was stamped with the current one. Returns the block time.
uint32_t advance_time(Machine& m);

/// Orders these lanes of the warp, after a collective or __syncwarp.
void sync_warp(Machine& m, Warp& warp, uint32_t lanes);
/// Forgets which threads of the block were ordered without the others, and who read shared memory.
void forget_order(ResidentBlock& block);
/// Orders all threads, after a barrier in which all live threads of the block took part.
void sync_block(Machine& m);
/// Orders what the arrived warps did before what the waiting warps do next, after a barrier of some
/// threads. `arrived` and `waiting`: masks of warps.
void join_orders(Machine& m, uint32_t arrived, uint32_t waiting);
/// __threadfence and its relatives, by these lanes. It publishes nothing by itself, but makes their
/// next strong write a release. `acquires`: it makes their last strong reads acquires.
void fence(Machine& m, Warp& warp, uint32_t lanes, MemoryScope scope, bool acquires = true);
/// To be called for each strong write or atomic of these lanes. `replaces`: a store; an atomic adds
/// to what was released through that place.
void publish(Machine& m, Warp& warp, uint32_t lanes, const MemOp& op, bool replaces);
/// To be called for each strong read, or atomic that returns a value, of these lanes.
void acquire(Machine& m, Warp& warp, uint32_t lanes, const MemOp& op);

/// Whether accesses of `thread` stamped with `time` in the running block are ordered before the
/// next access of `lane` of the warp `by`.
bool ordered_in_block(const Block& block, const Warp& by, int lane, uint32_t thread, uint32_t time);
/// Whether the block of `segment` released the accesses that `thread` made in it, and this lane of
/// the running block has acquired them.
bool ordered_between_blocks(const Machine& m, const Warp& by, int lane, uint32_t segment,
                            uint32_t thread);
/// Whether this lane has read a flag after which they would be ordered, had it made a fence. Then a
/// race is only suspected.
bool seen_by(const Machine& m, const Warp& by, int lane, uint32_t block, uint32_t thread,
             uint32_t time);

}  // namespace kw::vgpu
