// Trusted kernels that do one small operation on many pieces of device memory in one launch: copy,
// fill with a pattern, hash. The clock refills, poisons and audits with them, outside the timed
// region.
#pragma once

#include <memory>
#include <vector>

#include "cuda/context.h"
#include "cuda/image.h"

namespace kw::cuda {

struct DeviceSpan {
  CuDevicePtr address = 0;
  uint64_t bytes = 0;
};

/// One piece of work; the meaning of a field depends on the kernel.
struct Job {
  CuDevicePtr to = 0;  // copy, fill: the destination; hash: the bytes to read
  uint64_t from = 0;   // copy: an address; fill: a 4-byte pattern, aligned to 4 bytes
  uint64_t bytes = 0;
};

/// Jobs in device memory, which can be launched many times.
class JobList {
 public:
  static FaultOr<JobList> create(const Context& context, const std::vector<Job>& jobs);
  JobList() = default;
  size_t size() const { return count_; }
  uint64_t longest() const { return longest_; }
  CuDevicePtr address() const { return memory_.address(); }

 private:
  DeviceMemory memory_;
  size_t count_ = 0;
  uint64_t longest_ = 0;
};

class JobKernels {
 public:
  static Result<std::unique_ptr<JobKernels>> load(const Context& context);

  /// These three only queue work; an empty list queues none.
  MaybeFault copy(const JobList& jobs);
  MaybeFault fill(const JobList& jobs);
  /// Writes ports::audit_hash of each job's bytes to `out`, 8 bytes per job.
  MaybeFault hash(const JobList& jobs, uint64_t seed, CuDevicePtr out);

  /// Hashes pieces of memory and waits for the result.
  FaultOr<std::vector<uint64_t>> hash_now(const std::vector<DeviceSpan>& spans, uint64_t seed,
                                          const Deadline& deadline);

 private:
  explicit JobKernels(const Context& context) : context_(context) {}
  MaybeFault launch(const char* entry, const JobList& jobs, void** params);

  const Context& context_;
  std::unique_ptr<LoadedImage> image_;
};

/// The kernels' PTX, so that tests can run it elsewhere. A grid has one row of blocks (y) per job;
/// the blocks of a row stride over its bytes. Accesses are 16 bytes wide if every address allows
/// it.
const char* job_kernels_ptx();

}  // namespace kw::cuda
