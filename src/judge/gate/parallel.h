// Splits a range over host threads. For loops whose pieces do not touch each other.
#pragma once

#include <cstdint>
#include <functional>

namespace kw::gate {

/// How many threads a range of `count` items deserves; `wanted` 0 means all cores.
int thread_count(int64_t count, int64_t grain, int wanted);

/// Calls body(piece, begin, end) for `pieces` consecutive pieces of [0, count), each on a thread of
/// its own. An exception of a piece is thrown again here.
void in_pieces(int64_t count, int pieces, const std::function<void(int, int64_t, int64_t)>& body);

}  // namespace kw::gate
