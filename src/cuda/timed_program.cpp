#include "cuda/timed_program.h"

#include <algorithm>
#include <utility>

#include "cuda/launch.h"

namespace kw::cuda {
namespace {

// A program that even this often does not fit behind the gate is measured without its help.
constexpr int kMaxGateFailures = 3;
// The device's queue of pending launches is about a thousand long; behind the gate it must not fill
// up.
constexpr size_t kMaxGatedLaunches = 256;
constexpr int kMinSamples = 3;
// An idle GPU clocks down and takes some milliseconds of work to come back.
constexpr double kWarmSeconds = 0.02;

}  // namespace

Got<EventPair> EventPair::create(const Context& context) {
  EventPair pair(context);
  KW_TRY(
      context.check(context.api().event_create(&pair.start_, kEventDefault), "creating an event"));
  KW_TRY(context.check(context.api().event_create(&pair.end_, kEventDefault), "creating an event"));
  return pair;
}

EventPair::EventPair(EventPair&& other) noexcept
    : context_(other.context_),
      start_(std::exchange(other.start_, nullptr)),
      end_(std::exchange(other.end_, nullptr)) {}

EventPair::~EventPair() {
  if (context_->lost()) return;
  if (start_ != nullptr) context_->api().event_destroy(start_);
  if (end_ != nullptr) context_->api().event_destroy(end_);
}

Went EventPair::record_start() {
  return context_->check(context_->api().event_record(start_, context_->stream()),
                         "recording an event");
}

Went EventPair::record_end() {
  return context_->check(context_->api().event_record(end_, context_->stream()),
                         "recording an event");
}

Got<double> EventPair::elapsed() {
  float milliseconds = 0;
  KW_TRY(context_->check(context_->api().event_elapsed(&milliseconds, start_, end_),
                         "reading the events"));
  return static_cast<double>(milliseconds) * 1000;
}

TimedProgram::TimedProgram(const Context& context, UtilityKernels& utilities,
                           const TimeRequest& request, const exec::TimeProtocol& protocol,
                           Deadline deadline)
    : context_(context),
      utilities_(utilities),
      request_(request),
      protocol_(protocol),
      deadline_(deadline) {}

TimedProgram::~TimedProgram() {
  if (graph_ != nullptr && !context_.lost()) context_.api().graph_exec_destroy(graph_);
}

Went TimedProgram::enqueue_call(BufferSet& buffers) {
  KW_TRY(buffers.enqueue_zero_fills());
  for (const ReadyLaunch& ready : launches_) {
    KW_TRY(enqueue_launch(context_, *ready.function, *ready.launch, buffers.addresses()));
  }
  return Done{};
}

Went TimedProgram::prepare() {
  launches_ = KW_TRY(ready_launches(context_, *request_.image, *request_.program));
  events_ = std::make_unique<EventPair>(KW_TRY(EventPair::create(context_)));
  sets_.push_back(KW_TRY(BufferSet::create(context_, *request_.program, 0, 1)));
  KW_TRY(sets_[0].upload(request_.inputs));
  KW_TRY(sets_[0].keep_inouts());
  samples_.method = "events";
  double shortest = -1;
  const Deadline warm = deadline_in(kWarmSeconds);
  for (int i = 0; i < std::max(2, protocol_.warmup_calls) || !warm.passed(); ++i) {
    const double us = KW_TRY(measure());
    if (us >= 0 && (shortest < 0 || us < shortest)) shortest = us;
  }
  if (shortest >= 0 && shortest < protocol_.graph_below_us) KW_TRY(build_graph());
  return Done{};
}

Went TimedProgram::add_sets(uint64_t wanted) {
  const uint64_t each =
      sets_[0].storage_bytes() * 2 + 2 * kGuardBytes * request_.program->buffers.size();
  const uint64_t room = context_.free_bytes() / 2;
  const uint64_t fitting = each == 0 ? wanted : 1 + room / each;
  while (sets_.size() < std::min(wanted, fitting)) {
    sets_.push_back(KW_TRY(BufferSet::create(context_, *request_.program, 0, 1 + sets_.size())));
    KW_TRY(sets_.back().copy_inputs(sets_[0]));
    KW_TRY(sets_.back().keep_inouts());
  }
  return Done{};
}

Went TimedProgram::build_graph() {
  const int copies = std::max(1, protocol_.graph_copies);
  // Inouts were changed by the warm-up; copies are made of what was given.
  KW_TRY(sets_[0].restore_inouts());
  // Warm caches are wanted by those who switch cold_cache off: then all copies share one set.
  if (protocol_.cold_cache) KW_TRY(add_sets(static_cast<uint64_t>(copies)));
  KW_TRY(context_.wait(deadline_, "copying buffers"));
  calls_per_sample_ = copies;
  CuGraph graph = nullptr;
  Went captured = capture(&graph);
  CuResult code = kSuccess;
  if (captured) code = context_.api().graph_instantiate(&graph_, graph, 0);
  if (graph != nullptr) context_.api().graph_destroy(graph);
  if (!captured && captured.error().context_lost) return captured;
  if (!captured || code != kSuccess) {
    // Some launches cannot be captured; events are less sharp for short calls but always possible.
    graph_ = nullptr;
    calls_per_sample_ = 1;
    return Done{};
  }
  samples_.method = "graph";
  KW_TRY(context_.check(context_.api().graph_upload(graph_, context_.stream()),
                        "uploading the graph"));
  KW_TRY(measure());
  return Done{};
}

Went TimedProgram::capture(CuGraph* graph) {
  KW_TRY(context_.check(context_.api().capture_begin(context_.stream(), kCaptureThreadLocal),
                        "capturing the calls"));
  Went queued = Done{};
  for (int i = 0; i < calls_per_sample_ && queued; ++i) {
    queued = enqueue_call(sets_[static_cast<size_t>(i) % sets_.size()]);
  }
  // The capture must be ended whatever happened in it.
  Went ended =
      context_.check(context_.api().capture_end(context_.stream(), graph), "capturing the calls");
  return queued ? std::move(ended) : std::move(queued);
}

Got<double> TimedProgram::measure() {
  for (BufferSet& set : sets_) KW_TRY(set.restore_inouts());
  if (protocol_.cold_cache) KW_TRY(utilities_.enqueue_sweep());
  // A full queue behind a closed gate would only be emptied by the gate giving up.
  const bool gated =
      gave_up_ < kMaxGateFailures && (graph_ != nullptr || launches_.size() <= kMaxGatedLaunches);
  if (gated) KW_TRY(utilities_.enqueue_gate());
  KW_TRY(events_->record_start());
  if (graph_ != nullptr) {
    KW_TRY(context_.check(context_.api().graph_launch(graph_, context_.stream()),
                          "launching the graph"));
  } else {
    KW_TRY(enqueue_call(sets_[0]));
  }
  KW_TRY(events_->record_end());
  if (gated) utilities_.open_gate();
  KW_TRY(context_.wait(deadline_, "timing " + request_.program->module_name));
  if (gated && utilities_.gate_gave_up()) {
    ++gave_up_;
    return -1.0;
  }
  return KW_TRY(events_->elapsed()) / calls_per_sample_;
}

Went TimedProgram::sample() {
  if (done()) return Done{};
  const double us = KW_TRY(measure());
  if (us < 0) return Done{};
  samples_.microseconds.push_back(us);
  accumulated_us_ += us * calls_per_sample_;
  return Done{};
}

bool TimedProgram::done() const {
  const int taken = static_cast<int>(samples_.microseconds.size());
  if (taken >= std::max(1, protocol_.max_samples)) return true;
  if (taken < kMinSamples) return false;
  // Late is not hung: with samples in hand, stop before the deadline makes it look so.
  return accumulated_us_ >= protocol_.max_seconds * 1e6 ||
         deadline_in(deadline_.seconds / 4).at >= deadline_.at;
}

}  // namespace kw::cuda
