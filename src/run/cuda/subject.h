// The interface of what the clock times: a call with several copies, each with its own buffers, and
// the pool of contents for its inputs. Programs of kernel modules and graphs captured by other
// libraries have this same interface, so the same code times both.
#pragma once

#include <string>
#include <vector>

#include "cuda/buffers.h"
#include "cuda/context.h"
#include "cuda/jobs.h"
#include "record/finding.h"

namespace kw::cuda {

/// The buffers of one copy.
struct CallBuffers {
  std::vector<DeviceSpan> inputs;   // refilled before every sample; parallel to a pool entry
  std::vector<DeviceSpan> outputs;  // hashed after every call
  std::vector<Job> poison;          // filled before every sample
  bool strided_in_place = false;    // an output missing above is an input too
  /// Whether a call changes its inputs: then it must not be repeated without a refill.
  bool in_place() const;
};

class Subject {
 public:
  virtual ~Subject() = default;
  virtual const std::string& name() const = 0;
  /// Makes copies until there are `wanted`, or as many as fit. Returns their number, never 0.
  virtual FaultOr<size_t> make_copies(size_t wanted) = 0;
  virtual const CallBuffers& buffers(size_t copy) const = 0;
  /// At least one entry; each is parallel to CallBuffers::inputs.
  virtual const std::vector<std::vector<DeviceSpan>>& pool() const = 0;
  /// Queues one call on the context's stream.
  virtual MaybeFault enqueue(size_t copy) = 0;
  /// False when a call has so many launches that they would fill the device's queue behind a closed
  /// gate.
  virtual bool fits_queue() const { return true; }
  /// The call as a graph, owned by the subject. A refusal when it cannot be captured.
  virtual FaultOr<CuGraph> graph(size_t copy) = 0;
  /// The hashes of all outputs of a call, given those of CallBuffers::outputs. There are others
  /// only if an output is not dense in memory.
  virtual FaultOr<std::vector<uint64_t>> all_hashes(size_t copy, std::vector<uint64_t> dense,
                                                    uint64_t seed) {
    (void)copy, (void)seed;
    return dense;
  }
  /// Copies the outputs of a call to the host, if the subject supports it.
  virtual MaybeFault copy_out(size_t copy, const MutableBytes& to) {
    (void)copy, (void)to;
    return Done{};
  }
  /// Findings from the buffers after the last call. `entries` holds the pool entry of each copy.
  virtual FaultOr<std::vector<record::Finding>> check(const std::vector<size_t>& entries,
                                                      const Deadline& deadline) {
    (void)entries, (void)deadline;
    return std::vector<record::Finding>{};
  }
};

}  // namespace kw::cuda
