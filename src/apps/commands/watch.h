// Ctrl-C while nothing polls for it: a thread that ends the process when the work has not stopped
// by itself in time.
#pragma once

#include <atomic>
#include <string>
#include <thread>

namespace kw::commands {

/// Installs the handler of os/interrupt.h for its lifetime's work. After an interrupt the work has
/// a moment to end cleanly; then the process leaves with code 130. Workers die with it, files are
/// written by rename, so nothing is left.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  /// What else to say when the process has to leave at once: how to go on, for instance.
  static void last_words(const std::string& text);
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  void wait();

  std::atomic<bool> done_{false};
  const int end_;  // an eventfd, readable when the work has ended; -1: the thread polls
  std::thread thread_;
};

}  // namespace kw::commands
