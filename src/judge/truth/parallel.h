// Work shared between threads. Units are handed out one by one, so their cost may differ; what a
// unit computes must not depend on which worker does it.
#pragma once

#include <cstdint>
#include <functional>

namespace kw::truth {

/// Calls body(worker, unit) for every unit in [0, units), with worker in [0, threads). The first
/// exception of any worker is thrown again here after all have stopped.
void parallel_for(int threads, int64_t units,
                  const std::function<void(int worker, int64_t unit)>& body);

/// Calls body(begin, end) for blocks that cover [0, count). A small range is one block.
void in_blocks(int threads, int64_t count, const std::function<void(int64_t, int64_t)>& body);
/// Whether found(begin, end) says so for one of such blocks; the others may then be left out.
bool in_any_block(int threads, int64_t count, const std::function<bool(int64_t, int64_t)>& found);

}  // namespace kw::truth
