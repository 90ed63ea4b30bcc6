#include "clock/stopping.h"

namespace kw::clock {

const char* stop_reason_name(StopReason reason) {
  constexpr const char* kNames[] = {"samples", "seconds", "noise", "plateau"};
  return kNames[static_cast<size_t>(reason)];
}

void StoppingCriterion::add(std::span<const double> batch) {
  for (double us : batch) {
    samples_.push_back(us);
    accumulated_us_ += us;
  }
  const Summary summary = summarise(samples_);
  if (summary.count < rule_.min_samples || summary.median <= 0) return;
  uncertainty_ = (summary.high - summary.low) / 2 / summary.median;
  if (!judged_ || uncertainty_ < best_uncertainty_ * (1 - rule_.plateau_gain)) {
    best_uncertainty_ = uncertainty_;
    batches_without_gain_ = 0;
  } else {
    ++batches_without_gain_;
  }
  judged_ = true;
}

std::optional<StopReason> StoppingCriterion::reason() const {
  const auto count = static_cast<int64_t>(samples_.size());
  if (count >= rule_.max_samples) return StopReason::Samples;
  // One call may be longer than the whole budget, so min_samples does not apply here.
  if (count > 0 && accumulated_us_ >= rule_.max_seconds * 1e6) return StopReason::Seconds;
  if (!judged_) return std::nullopt;
  if (uncertainty_ <= rule_.relative_noise) return StopReason::Noise;
  if (batches_without_gain_ >= rule_.plateau_batches) return StopReason::Plateau;
  return std::nullopt;
}

}  // namespace kw::clock
