// Threads that each serve one request and then end.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <thread>

namespace kw::mcp {

/// Only the thread that starts the others may use it.
class ThreadGroup {
 public:
  ThreadGroup() = default;
  ~ThreadGroup();
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

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
