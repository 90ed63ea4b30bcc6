// Times subjects on the device, in this process. Returns raw samples, hashes and copies; what they
// mean is decided elsewhere (bench). docs/clock.md tells the whole story.
//
// From graph_below_us on, each call stands between two events while a gate kernel holds the stream
// until the whole call is queued, so that launch latency is not measured. Shorter calls would drown
// in the events' own cost: there, one sample is a CUDA graph of several copies of the call, each
// with its own buffers, divided by the copies. Before every sample the inputs are refilled from the
// pool, the outputs poisoned and the L2 swept (write, then read: no dirty lines left to be paid
// for); after it the outputs are hashed. Subjects are interleaved forwards and backwards (ABBA), so
// that drift of clocks and temperature meets all of them alike.
#pragma once

#include <vector>

#include "cuda/subject.h"
#include "cuda/utility_kernels.h"
#include "ports/device.h"

namespace kw::cuda {

/// Which call of a subject was copied to one of TimeRequest::copy_to.
struct CopiedSlot {
  bool filled = false;
  int sample = 0, entry = 0;
};

struct TimeRequest {
  Subject* subject = nullptr;
  /// Where outputs are copied: protocol.copies_out places for calls drawn at random, then one for
  /// the last call. Empty: nowhere.
  std::vector<MutableBytes> copy_to;
};

/// One subject's part.
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
/// used max_seconds; the i-th samples of all were taken in the same pass.
TimeReport time_subjects(const Context& context, UtilityKernels& utilities,
                         const std::vector<TimeRequest>& requests,
                         const ports::TimeProtocol& protocol);

}  // namespace kw::cuda
