#include "os/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kw::os {

void parallel_for(int threads, int64_t units,
                  const std::function<void(int worker, int64_t unit)>& body) {
  std::atomic<int64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&](int worker) {
    try {
      for (int64_t unit = next++; unit < units; unit = next++) body(worker, unit);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = units;
    }
  };
  const int64_t helpers = std::min<int64_t>(threads, units) - 1;
  std::vector<std::thread> pool;
  for (int worker = 1; worker <= helpers; ++worker) {
    try {
      pool.emplace_back(work, worker);
    } catch (const std::exception&) {
      break;  // no thread or no memory for one: fewer threads do the same work
    }
  }
  work(0);
  for (std::thread& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

int thread_count(int64_t count, int64_t grain, int wanted) {
  const int64_t cores = wanted > 0 ? wanted : std::max(1U, std::thread::hardware_concurrency());
  return static_cast<int>(std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1, cores));
}

void in_pieces(int64_t count, int pieces, const std::function<void(int, int64_t, int64_t)>& body) {
  parallel_for(pieces, pieces, [&](int, int64_t piece) {
    body(static_cast<int>(piece), count * piece / pieces, count * (piece + 1) / pieces);
  });
}

void in_blocks(int threads, int64_t count, const std::function<void(int64_t, int64_t)>& body) {
  constexpr int64_t kBlock = 1 << 16;
  parallel_for(threads, (count + kBlock - 1) / kBlock, [&](int, int64_t unit) {
    body(unit * kBlock, std::min(count, (unit + 1) * kBlock));
  });
}

bool in_any_block(int threads, int64_t count, const std::function<bool(int64_t, int64_t)>& found) {
  std::atomic<bool> any = false;
  in_blocks(threads, count, [&](int64_t begin, int64_t end) {
    if (!any && found(begin, end)) any = true;
  });
  return any;
}

}  // namespace kw::os
