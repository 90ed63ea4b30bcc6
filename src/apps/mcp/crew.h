// Threads that each serve one request and then end.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <thread>

namespace kw::mcp {

/// Only the thread that starts the others may use it.
class Crew {
 public:
  Crew() = default;
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void start(std::function<void()> work);
  /// The number of threads at work.
  size_t size();
  /// Waits for all of them.
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
