// Handles Ctrl-C when no code polls for it: a thread ends the process if the work does not stop in
// time.
#pragma once

#include <atomic>
#include <string>
#include <thread>

namespace kw::commands {

/// Installs the handler of os/interrupt.h. After an interrupt the work has a short time to end
/// cleanly; then the process ends with code 130. Workers die with it. Files are written by rename,
/// so no partial file remains.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  /// Text to print when the process must end at once, for example how to continue.
  static void set_final_note(const std::string& text);
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  void wait();

  std::atomic<bool> done_{false};
  const int end_;  // an eventfd, readable when the work has ended; -1: the thread polls
  std::thread thread_;
};

}  // namespace kw::commands
