// One subject on the clock: its copies, its graph, one sample at a time. For clock.cpp only.
#pragma once

#include <memory>
#include <vector>

#include "cuda/clock.h"
#include "cuda/cupti.h"
#include "cuda/events.h"
#include "cuda/subject.h"
#include "cuda/utility_kernels.h"
#include "record/timing.h"

namespace kw::cuda {

class Lane {
 public:
  Lane(const Context& context, UtilityKernels& utilities, Subject& subject,
       const ports::TimeProtocol& protocol, uint64_t seed, Deadline deadline);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Warms up until times are steady, chooses the method, builds the graph. `overhead_us` is
  /// subtracted from every sample.
  MaybeFault prepare(double overhead_us);
  /// Refills, sweeps, times and hashes one sample, which is pending until keep(). False when
  /// launches could not be hidden; then the sample must not count.
  FaultOr<bool> take();
  /// Adds the pending sample to the result.
  void keep();
  /// Copies the outputs of one call, drawn at random, of the pending or last kept sample.
  MaybeFault copy_out(const MutableBytes& to, CopiedSlot& slot);
  /// Times some calls with the profiling library.
  MaybeFault measure_span(Cupti& cupti);
  /// Checks the buffers after the last call.
  MaybeFault finish();

  const std::string& name() const { return subject_.name(); }
  double accumulated_us() const { return accumulated_us_; }
  LaneResult& result() { return result_; }

 private:
  uint64_t draw(uint64_t below);
  MaybeFault warm_up();
  MaybeFault build_graph();
  MaybeFault chain_calls(size_t calls, CuGraph graph);
  /// Makes the lists of jobs for this number of copies.
  MaybeFault list_jobs(size_t copies);
  MaybeFault refill();
  MaybeFault hash_outputs();
  MaybeFault measure_host();
  /// Microseconds of one call; negative when the gate gave up.
  FaultOr<double> measure();

  const Context& context_;
  UtilityKernels& utilities_;
  Subject& subject_;
  const ports::TimeProtocol& protocol_;
  const uint64_t seed_;
  const Deadline deadline_;
  std::unique_ptr<EventPair> events_;
  CuGraphExec graph_ = nullptr;
  size_t copies_ = 1;             // with buffers of their own
  int calls_ = 1;                 // per sample
  std::vector<JobList> refills_;  // one per rotation of the pool
  JobList poison_, hashes_;
  DeviceMemory hash_memory_;
  uint64_t draws_ = 0;
  size_t rotation_ = 0;
  int gave_up_ = 0;
  double overhead_us_ = 0;
  double shortest_us_ = -1;
  double pending_us_ = 0;
  double accumulated_us_ = 0;
  std::vector<record::CallAudit> pending_;
  LaneResult result_;
};

}  // namespace kw::cuda
