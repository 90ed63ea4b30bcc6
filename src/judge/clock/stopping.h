// When enough has been measured. An object per program; fed batch by batch, asked after each.
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
  double max_seconds = 0.5;       // of accumulated device time
  double relative_noise = 0.005;  // of the median: half the width of its interval over it
  int plateau_batches = 4;        // stop when this many batches in a row did not make that better
  double plateau_gain = 0.05;     // better: by at least this part
};

enum class StopReason : uint8_t { Samples, Seconds, Noise, Plateau };
/// "samples", "seconds", "noise" or "plateau".
const char* stop_reason_name(StopReason reason);

class StoppingCriterion {
 public:
  explicit StoppingCriterion(const StoppingRule& rule) : rule_(rule) {}

  /// Adds a batch of microseconds.
  void add(std::span<const double> batch);
  /// Why to stop now; nothing while more samples are worth their time.
  std::optional<StopReason> reason() const;
  const std::vector<double>& samples() const { return samples_; }
  /// Half the width of the median's interval, relative to the median.

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
