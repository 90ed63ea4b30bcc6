// Times subjects on the device, in this process. Returns raw samples, hashes and copies; bench
// interprets them. docs/clock.md explains the method.
//
// A call of at least graph_below_us is timed between two events. A gate kernel holds the stream
// until the whole call is queued, so that launch latency is not measured. For shorter calls the
// cost of the events is too large. There one sample is a CUDA graph of several copies of the call,
// each with its own buffers, divided by the number of copies. Before every sample the inputs are
// refilled from the pool, the outputs are poisoned and the L2 is swept. The sweep writes, then
// reads, so that no dirty lines remain. After the sample the outputs are hashed. Subjects are
// interleaved forwards and backwards (ABBA), so that drift of clocks and temperature affects all of
// them alike.
#pragma once

#include <vector>

#include "cuda/subject.h"
#include "cuda/utility_kernels.h"
#include "ports/device.h"

namespace kw::cuda {

/// The call of a subject that was copied to one of TimeRequest::copy_to.
struct CopiedSlot {
  bool filled = false;
  int sample = 0, entry = 0;
};

struct TimeRequest {
  Subject* subject = nullptr;
  /// Places for outputs: protocol.copies_out places for calls drawn at random, then one for the
  /// last call. Empty: no outputs are copied.
  std::vector<MutableBytes> copy_to;
};

/// The result of one subject.
struct LaneResult {
  record::TimingSamples samples;
  std::vector<record::CallAudit> audits;
  std::vector<CopiedSlot> copied;  // parallel to copy_to
  std::vector<record::Finding> findings;
};

struct TimeReport {
  ports::RunStatus status = ports::RunStatus::Completed;
  std::string message;  // names the subject
  bool device_lost = false;
  std::vector<LaneResult> results;  // parallel to the requests, when Completed
};

/// Every subject must be prepared. Takes passes over all of them until one has max_samples or has
/// used max_seconds. The i-th samples of all subjects come from the same pass.
TimeReport time_subjects(const Context& context, UtilityKernels& utilities,
                         const std::vector<TimeRequest>& requests,
                         const ports::TimeProtocol& protocol);

}  // namespace kw::cuda
