// Work shared between threads. Units are handed out one by one, so their cost may differ; what a
// unit computes must not depend on which worker does it.
#pragma once

#include <cstdint>
#include <functional>

namespace kw::oracle {

/// Calls body(worker, unit) for every unit in [0, units), with worker in [0, threads). The first
/// exception of any worker is thrown again here after all have stopped.
void parallel_for(int threads, int64_t units,
                  const std::function<void(int worker, int64_t unit)>& body);

}  // namespace kw::oracle
