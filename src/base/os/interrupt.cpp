#include "os/interrupt.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace kw::os {
namespace {

// A signal handler can reach only globals.
std::atomic<bool> g_interrupted{false};
std::atomic<int> g_event{-1};
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

void on_signal(int) {
  const int saved = errno;
  request_interrupt();
  errno = saved;
}

}  // namespace

void arm_interrupt() {
  if (g_event.load() < 0) g_event.store(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

void request_interrupt() {
  g_interrupted.store(true);
  const uint64_t one = 1;
  if (g_event.load() >= 0) [[maybe_unused]]
    const ssize_t n = ::write(g_event.load(), &one, sizeof(one));
}

void install_interrupt_handler() {
  arm_interrupt();
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigemptyset(&action.sa_mask);
  ::signal(SIGXFSZ, SIG_IGN);  // a write at the file size limit then fails with an error
  for (int signal : kSignals) {
    struct sigaction old {};
    ::sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);  // nohup still works
  }
}

bool interrupted() { return g_interrupted.load(); }

Status check_interrupted() {
  if (interrupted()) return environment_error("interrupted");
  return Done{};
}

void reset_interrupt() {
  uint64_t count = 0;
  if (g_event.load() >= 0) [[maybe_unused]]
    const ssize_t n = ::read(g_event.load(), &count, sizeof(count));
  g_interrupted.store(false);
}

void clear_interrupt() {
  reset_interrupt();
  install_interrupt_handler();
}

int interrupt_fd() { return g_event.load(); }

}  // namespace kw::os
