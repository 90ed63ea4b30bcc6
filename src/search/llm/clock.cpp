#include "llm/clock.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "os/interrupt.h"

namespace kw::llm {
namespace {

template <typename C>
double seconds_of() {
  return std::chrono::duration<double>(C::now().time_since_epoch()).count();
}

class RealClock : public Clock {
 public:
  double now() override { return seconds_of<std::chrono::steady_clock>(); }
  double unix_time() override { return seconds_of<std::chrono::system_clock>(); }
  bool sleep(double seconds, const std::function<bool()>& cancelled) override {
    const double end = now() + seconds;
    for (;;) {
      if (os::interrupted() || (cancelled && cancelled())) return false;
      const double left = end - now();
      if (left <= 0) return true;
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, 0.05)));
    }
  }
};

}  // namespace

Clock::~Clock() = default;

Clock& real_clock() {
  static RealClock clock;
  return clock;
}

bool FakeClock::sleep(double seconds, const std::function<bool()>& cancelled) {
  if (cancelled && cancelled()) return false;
  now_ += std::max(0.0, seconds);
  slept_ += std::max(0.0, seconds);
  return true;
}

}  // namespace kw::llm
