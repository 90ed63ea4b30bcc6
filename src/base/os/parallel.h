// Shares work between threads. Units are distributed one by one, so their cost may differ. A unit's
// result must not depend on the worker that computes it.
#pragma once

#include <cstdint>
#include <functional>

namespace kw::os {

/// Calls body(worker, unit) for every unit in [0, units), with worker in [0, threads). Rethrows the
/// first exception of a worker after all workers have stopped.
void parallel_for(int threads, int64_t units,
                  const std::function<void(int worker, int64_t unit)>& body);

/// Returns the number of threads for `count` items, at least `grain` each; `wanted` 0 means all
/// cores.
int thread_count(int64_t count, int64_t grain, int wanted);

/// Calls body(piece, begin, end) for `pieces` consecutive pieces of [0, count).
void in_pieces(int64_t count, int pieces, const std::function<void(int, int64_t, int64_t)>& body);

/// Calls body(begin, end) for blocks that cover [0, count). A small range is one block.
void in_blocks(int threads, int64_t count, const std::function<void(int64_t, int64_t)>& body);
/// Returns whether found(begin, end) is true for a block; the remaining blocks may then be skipped.
bool in_any_block(int threads, int64_t count, const std::function<bool(int64_t, int64_t)>& found);

}  // namespace kw::os
