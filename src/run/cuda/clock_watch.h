// Reads the SM clock at 20 Hz while samples are taken, and says when they must not count.
#pragma once

#include <chrono>

#include "cuda/context.h"

namespace kw::cuda {

class ClockWatch {
 public:
  explicit ClockWatch(const Context& context);

  /// True when the last pass must be discarded: the clock is below three quarters of its default.
  /// Then it waits briefly for the device to recover. It gives up (see low()) when the clock stays
  /// low.
  bool reject();
  int lowest_mhz() const { return lowest_; }
  /// The clock stayed low: samples are accepted since then.
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
