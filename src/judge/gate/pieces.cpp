#include "gate/pieces.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace kw::gate {

int thread_count(int64_t count, int64_t grain, int wanted) {
  const int64_t cores = wanted > 0 ? wanted : std::max(1U, std::thread::hardware_concurrency());
  return static_cast<int>(std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1, cores));
}

void in_pieces(int64_t count, int pieces, const std::function<void(int, int64_t, int64_t)>& body) {
  std::vector<std::exception_ptr> thrown(static_cast<size_t>(pieces));
  const auto piece = [&](int index) {
    try {
      body(index, count * index / pieces, count * (index + 1) / pieces);
    } catch (...) {
      thrown[static_cast<size_t>(index)] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < pieces; ++i) threads.emplace_back(piece, i);
  piece(0);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& exception : thrown) {
    if (exception) std::rethrow_exception(exception);
  }
}

}  // namespace kw::gate
