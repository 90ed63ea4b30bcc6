#include "cuda/clock_watch.h"

#include <thread>

namespace kw::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kEvery = std::chrono::milliseconds(50);
constexpr auto kPause = std::chrono::milliseconds(20);
constexpr int kMaxRejections = 10;  // in a row

}  // namespace

ClockWatch::ClockWatch(const Context& context)
    : context_(context),
      limit_mhz_(context.telemetry().default_sm_clock_mhz * 3 / 4),
      next_(Clock::now()) {}

bool ClockWatch::reject() {
  if (limit_mhz_ == 0) return false;
  // While the clock is low, every pass is checked; otherwise 20 times a second is enough.
  if (!was_low_ && Clock::now() < next_) return false;
  next_ = Clock::now() + kEvery;
  const int mhz = context_.sm_clock_mhz();
  if (mhz == 0) return false;
  if (lowest_ == 0 || mhz < lowest_) lowest_ = mhz;
  was_low_ = mhz < limit_mhz_ && !gave_up_;
  if (!was_low_) {
    rejected_in_a_row_ = 0;
    return false;
  }
  if (++rejected_in_a_row_ > kMaxRejections) {
    gave_up_ = true;
    was_low_ = false;
    return false;
  }
  std::this_thread::sleep_for(kPause);
  return true;
}

}  // namespace kw::cuda
