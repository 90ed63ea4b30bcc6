// A GPU's clock and temperature drift while subjects are timed, so times taken one after another
// cannot be compared. So one pass takes a sample of every subject, in turn forwards and backwards
// (ABBA). A pass counts for all subjects or for none: it is discarded when a gate gave up or the SM
// clock was low.
// Timing each subject alone would be shorter, and would charge the drift to the later ones. The
// cost: the slowest subject sets the length of a pass, and all stop when one has used its
// max_seconds. At least 4 passes are taken. clock.h describes a sample.
#include "cuda/clock.h"

#include <algorithm>
#include <memory>

#include "cuda/clock_watch.h"
#include "cuda/lane.h"
#include "ports/audit_hash.h"

namespace kw::cuda {
namespace {

using Lanes = std::vector<std::unique_ptr<Lane>>;

constexpr int kMinPasses = 4;
constexpr int kOverheadPairs = 31;

/// A Fault with the subject's name in front.
Fault named(const std::string& name, Fault fault) {
  fault.message = name + ": " + fault.message;
  return fault;
}

/// Microseconds between two events with no work between them, both queued behind the gate.
FaultOr<double> event_overhead(const Context& context, UtilityKernels& utilities,
                               const Deadline& deadline) {
  EventPair events = KW_TRY(EventPair::create(context));
  std::vector<double> times;
  for (int i = 0; i < kOverheadPairs; ++i) {
    KW_TRY(utilities.enqueue_gate());
    KW_TRY(events.record_start());
    KW_TRY(events.record_end());
    utilities.open_gate();
    KW_TRY(context.wait(deadline, "timing nothing"));
    times.push_back(KW_TRY(events.elapsed()));
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// Holds the state of one timing call.
class Session {
 public:
  Session(const Context& context, UtilityKernels& utilities,
          const std::vector<TimeRequest>& requests, const ports::TimeProtocol& protocol)
      : context_(context),
        utilities_(utilities),
        requests_(requests),
        protocol_(protocol),
        deadline_(deadline_in(protocol.timeout_seconds)) {}

  MaybeFault run(std::vector<LaneResult>& results) {
    KW_TRY(prepare());
    ClockWatch watch(context_);
    while (!done()) {
      KW_TRY(pass(true, watch));
      if (passes_ < protocol_.max_samples) KW_TRY(pass(false, watch));
    }
    KW_TRY(finish(watch, results));
    return Done{};
  }

 private:
  MaybeFault prepare() {
    const double overhead = KW_TRY(event_overhead(context_, utilities_, deadline_));
    for (size_t i = 0; i < requests_.size(); ++i) {
      lanes_.push_back(std::make_unique<Lane>(context_, utilities_, *requests_[i].subject,
                                              protocol_, protocol_.seed + i, deadline_));
      lanes_[i]->result().copied.resize(requests_[i].copy_to.size());
      if (MaybeFault done = lanes_[i]->prepare(overhead); !done)
        return named(lanes_[i]->name(), std::move(done).error());
    }
    for (int i = 0; i < protocol_.copies_out; ++i) {
      const auto draw = ports::audit_mix(static_cast<uint64_t>(i), 1, protocol_.seed);
      chosen_.push_back(
          static_cast<int>(draw % static_cast<uint64_t>(std::max(1, protocol_.max_samples))));
    }
    return Done{};
  }

  bool done() const {
    if (passes_ >= std::max(1, protocol_.max_samples)) return true;
    if (passes_ < kMinPasses) return false;
    // Stop before the deadline if there are samples: a slow subject must not be reported as hung.
    if (deadline_in(deadline_.seconds / 4).at >= deadline_.at) return true;
    return std::ranges::any_of(lanes_, [&](const auto& lane) {
      return lane->accumulated_us() >= protocol_.max_seconds * 1e6;
    });
  }

  /// Takes one sample of every lane; all of them count, or none.
  MaybeFault pass(bool forwards, ClockWatch& watch) {
    bool good = true;
    for (size_t n = 0; n < lanes_.size(); ++n) {
      Lane& lane = *lanes_[forwards ? n : lanes_.size() - 1 - n];
      FaultOr<bool> counts = lane.take();
      if (!counts) return named(lane.name(), std::move(counts).error());
      good = good && *counts;
    }
    if (!good || watch.reject()) {
      ++discarded_;
      return Done{};
    }
    for (const auto& lane : lanes_) lane->keep();
    for (size_t slot = 0; slot < chosen_.size(); ++slot) {
      if (chosen_[slot] == passes_) KW_TRY(copy_out(slot));
    }
    ++passes_;
    return Done{};
  }

  MaybeFault copy_out(size_t slot) {
    for (size_t i = 0; i < lanes_.size(); ++i) {
      if (slot >= requests_[i].copy_to.size()) continue;
      KW_TRY(lanes_[i]->copy_out(requests_[i].copy_to[slot], lanes_[i]->result().copied[slot]));
    }
    return Done{};
  }

  MaybeFault finish(const ClockWatch& watch, std::vector<LaneResult>& results) {
    const NvmlReading reading = context_.telemetry();
    if (protocol_.copies_out > 0) KW_TRY(copy_out(chosen_.size()));
    if (protocol_.span) KW_TRY(measure_spans());
    for (const auto& lane : lanes_) {
      if (MaybeFault done = lane->finish(); !done)
        return named(lane->name(), std::move(done).error());
      LaneResult& result = lane->result();
      result.samples.discarded = discarded_;
      result.samples.clocks_low = watch.low();
      result.samples.sm_clock_mhz =
          watch.lowest_mhz() > 0 ? watch.lowest_mhz() : reading.sm_clock_mhz;
      result.samples.temperature_c = reading.temperature_c;
      result.samples.power_w = reading.power_w;
      results.push_back(std::move(result));
    }
    return Done{};
  }

  MaybeFault measure_spans() {
    const std::unique_ptr<Cupti> cupti = Cupti::open();
    if (cupti == nullptr) return Done{};
    for (const auto& lane : lanes_) {
      if (MaybeFault done = lane->measure_span(*cupti); !done)
        return named(lane->name(), std::move(done).error());
    }
    return Done{};
  }

  const Context& context_;
  UtilityKernels& utilities_;
  const std::vector<TimeRequest>& requests_;
  const ports::TimeProtocol& protocol_;
  const Deadline deadline_;
  Lanes lanes_;
  std::vector<int> chosen_;  // passes whose outputs are copied out
  int passes_ = 0;
  int64_t discarded_ = 0;
};

}  // namespace

TimeReport time_subjects(const Context& context, UtilityKernels& utilities,
                         const std::vector<TimeRequest>& requests,
                         const ports::TimeProtocol& protocol) {
  TimeReport report;
  Session session(context, utilities, requests, protocol);
  MaybeFault done = session.run(report.results);
  if (!done) {
    const Fault& fault = done.error();
    report.status = fault.status;
    report.message = fault.message;
    report.device_lost = fault.device_lost;
    report.results.clear();
  }
  return report;
}

}  // namespace kw::cuda
