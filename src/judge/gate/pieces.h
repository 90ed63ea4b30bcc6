// Splits a range over host threads. For loops whose pieces are independent.
#pragma once

#include <cstdint>
#include <functional>

namespace kw::gate {

/// Returns the number of threads for `count` items, at least `grain` each; `wanted` 0 means all
/// cores.
int thread_count(int64_t count, int64_t grain, int wanted);

/// Calls body(piece, begin, end) for `pieces` consecutive pieces of [0, count), each on its own
/// thread. Rethrows an exception of a piece.
void in_pieces(int64_t count, int pieces, const std::function<void(int, int64_t, int64_t)>& body);

}  // namespace kw::gate
