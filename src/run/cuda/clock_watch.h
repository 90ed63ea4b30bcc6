// Looks at the SM clock while samples are taken, at 20 Hz, and says when they must not count. Knows
// nothing of what is timed.
#pragma once

#include <chrono>

#include "cuda/context.h"

namespace kw::cuda {

class ClockWatch {
 public:
  explicit ClockWatch(const Context& context);

  /// True when the pass just taken should be thrown away: the clock is below three quarters of its
  /// default. Waits a moment then, for the device to recover. Gives up (see low()) when it stays
  /// there.
  bool reject();
  int lowest_mhz() const { return lowest_; }
  /// It stayed low: samples have been accepted since.
  bool low() const { return gave_up_; }

 private:
  const Context& context_;
  const int limit_mhz_;  // 0: the clock cannot be read
  std::chrono::steady_clock::time_point next_;
  int lowest_ = 0;
  int rejected_in_a_row_ = 0;
  bool gave_up_ = false;
  bool was_low_ = false;
};

}  // namespace kw::cuda
