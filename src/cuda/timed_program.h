// One program on the bench of the clock: its buffer sets, its graph, and one sample at a time. For
// clock.cpp only.
#pragma once

#include <memory>
#include <vector>

#include "cuda/clock.h"
#include "cuda/run.h"
#include "record/timing.h"

namespace kw::cuda {

/// Two events, destroyed with their owner.
class EventPair {
 public:
  static Got<EventPair> create(const Context& context);
  EventPair(EventPair&& other) noexcept;
  EventPair& operator=(EventPair&&) = delete;
  ~EventPair();
  Went record_start();
  Went record_end();
  /// Microseconds between them; both must have happened.
  Got<double> elapsed();

 private:
  explicit EventPair(const Context& context) : context_(&context) {}
  const Context* context_;
  CuEvent start_ = nullptr;
  CuEvent end_ = nullptr;
};

class TimedProgram {
 public:
  TimedProgram(const Context& context, UtilityKernels& utilities, const TimeRequest& request,
               const exec::TimeProtocol& protocol, Deadline deadline);
  ~TimedProgram();
  TimedProgram(const TimedProgram&) = delete;
  TimedProgram& operator=(const TimedProgram&) = delete;

  /// Buffers, warm-up, choice of the method, graph.
  Went prepare();
  /// Takes one sample, unless done().
  Went sample();
  bool done() const;
  const record::TimingSamples& samples() const { return samples_; }
  const kernel::Program& program() const { return *request_.program; }

 private:
  Went enqueue_call(BufferSet& buffers);
  Went build_graph();
  Went capture(CuGraph* graph);
  Went add_sets(uint64_t wanted);
  /// Microseconds of one call; negative when the gate gave up and the sample must not count.
  Got<double> measure();

  const Context& context_;
  UtilityKernels& utilities_;
  const TimeRequest& request_;
  const exec::TimeProtocol& protocol_;
  const Deadline deadline_;
  std::vector<ReadyLaunch> launches_;
  std::vector<BufferSet> sets_;
  std::unique_ptr<EventPair> events_;
  CuGraphExec graph_ = nullptr;
  int calls_per_sample_ = 1;
  int gave_up_ = 0;
  double accumulated_us_ = 0;
  record::TimingSamples samples_;
};

}  // namespace kw::cuda
