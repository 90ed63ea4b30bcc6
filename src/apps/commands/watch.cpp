#include "commands/watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <mutex>

#include "commands/io.h"
#include "os/interrupt.h"

namespace kw::commands {

namespace {

constexpr int kPollMs = 100;
constexpr int kGraceMs =
    1000;  // compilers and workers stop at once; this is for computations in this process

std::mutex words_mutex;
std::string words;  // guarded by words_mutex

std::string take_words() {
  const std::lock_guard lock(words_mutex);
  return words;
}

}  // namespace

void InterruptWatch::set_final_note(const std::string& text) {
  const std::lock_guard lock(words_mutex);
  words = text.empty() ? "" : "kernelwright: " + text + "\n";
}

InterruptWatch::InterruptWatch() : end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  os::install_interrupt_handler();
  thread_ = std::thread([this] { wait(); });
}

InterruptWatch::~InterruptWatch() {
  done_ = true;
  ::eventfd_write(end_, 1);
  thread_.join();
  ::close(end_);
}

void InterruptWatch::wait() {
  while (!done_ && !os::interrupted()) {
    pollfd fds[] = {{os::interrupt_fd(), POLLIN, 0}, {end_, POLLIN, 0}};  // poll() ignores -1
    ::poll(fds, 2, kPollMs);
  }
  for (int waited = 0; !done_ && waited < kGraceMs; waited += 10) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (done_) return;
  const std::string message = "\nkernelwright: interrupted\n" + take_words();
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(kInterrupted);
}

}  // namespace kw::commands
