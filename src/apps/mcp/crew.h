// Threads that come and go with the requests they serve.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <thread>

namespace kw::mcp {

/// Used by one thread: the one that starts the others.
class Crew {
 public:
  Crew() = default;
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void start(std::function<void()> work);
  /// How many are at work.
  size_t size();
  /// Waits for all.
  void join();

 private:
  struct Member {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> done;
  };
  void dismiss();

  std::list<Member> members_;
};

}  // namespace kw::mcp
