#include "oracle/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kw::oracle {

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
    } catch (const std::system_error&) {
      break;  // fewer threads do the same work
    }
  }
  work(0);
  for (std::thread& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kw::oracle
