// What is ordered before what inside a block and between blocks: block time, vector clocks of
// warps, and the releases and acquires blocks make through memory.
#pragma once

#include <cstdint>

#include "vgpu/inst.h"

namespace kw::vgpu {

struct Machine;
struct Block;
struct Warp;

/// Gives the running block a number for the stamps it makes from now on.
void open_segment(Machine& m);

/// Starts a new block time if anything was stamped with the current one; returns it.
uint32_t advance_time(Machine& m);

/// A collective or __syncwarp: these lanes of the warp are ordered.
void sync_warp(Machine& m, Warp& warp, uint32_t lanes);
/// A barrier all live threads of the block took part in.
void sync_block(Machine& m);
/// __threadfence and relatives; publishes nothing by itself, but makes the next strong write a
/// release.
void fence(Machine& m, Scope scope);
/// A strong write or atomic.
void publish(Machine& m, const MemOp& op);
/// A strong read or atomic of this warp.
void acquire(Machine& m, Warp& warp, const MemOp& op);

/// The block has ended: what it saw of others matters to nobody, only what it published.
void forget_acquires(Machine& m, const Block& block);

/// Whether accesses of `thread` stamped with `time` in the running block are ordered before what
/// `lane` of the warp `by` does now.
bool ordered_in_block(const Block& block, const Warp& by, int lane, uint32_t thread, uint32_t time);
/// Whether an access of another block, in `segment`, was published and seen by the running block.
bool ordered_between_blocks(const Machine& m, uint32_t segment);
/// Whether that block has published anything at all after that access (then a race is only
/// suspected).
bool published(const Machine& m, uint32_t segment);

}  // namespace kw::vgpu
