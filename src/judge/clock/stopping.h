// Decides when a program has been measured enough. One object per program; the caller adds each
// batch and then asks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "clock/statistics.h"

namespace kw::clock {

struct StoppingRule {
  int64_t min_samples = 10;
  int64_t max_samples = 400;
  double max_seconds = 0.5;       // accumulated device time
  double relative_noise = 0.005;  // half the width of the median's interval / median
  int plateau_batches = 4;        // stop after this many batches in a row without a gain
  double plateau_gain = 0.05;     // least relative decrease that counts as a gain
};

enum class StopReason : uint8_t { Samples, Seconds, Noise, Plateau };
/// "samples", "seconds", "noise" or "plateau".
const char* stop_reason_name(StopReason reason);

class StoppingCriterion {
 public:
  explicit StoppingCriterion(const StoppingRule& rule) : rule_(rule) {}

  /// Adds a batch of samples in microseconds.
  void add(std::span<const double> batch);
  /// Returns the reason to stop; not set while more samples are needed.
  std::optional<StopReason> reason() const;
  const std::vector<double>& samples() const { return samples_; }

 private:
  StoppingRule rule_;
  std::vector<double> samples_;
  double accumulated_us_ = 0;
  double uncertainty_ = 0;
  double best_uncertainty_ = 0;
  int batches_without_gain_ = 0;
  bool judged_ = false;
};

}  // namespace kw::clock
