// A program's buffers in device memory: guard zones around each, poison where nothing may be relied
// on, inputs checked for writes afterwards. Knows nothing of launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda/context.h"
#include "cuda/jobs.h"
#include "kernel/program.h"
#include "record/finding.h"

namespace kw::cuda {

/// Bytes watched before and after every buffer.
inline constexpr uint64_t kGuardBytes = 16384;

/// Dense host bytes per buffer of a program; empty where a buffer has none to give or take.
using ConstBytes = std::vector<std::span<const std::byte>>;
using MutableBytes = std::vector<std::span<std::byte>>;

/// Where a buffer's dense contents come from: the host, or a copy already on this device.
struct Source {
  std::span<const std::byte> host;
  DeviceSpan device;  // address 0: not on the device
  uint64_t hash = 0;  // audit_hash with seed 0, when on the device
  uint64_t bytes() const { return device.address != 0 ? device.bytes : host.size(); }
};
/// One per buffer of a program; empty where a buffer is given nothing.
using Sources = std::vector<Source>;
Sources from_host(const ConstBytes& inputs);
/// The dense bytes of a source, fetched from the device if need be.
Got<std::vector<std::byte>> on_host(const Context& context, const Source& source);

/// Whether a program is given this, or gives it back: there, not empty, and of such a role.
bool is_given(const kernel::Buffer& buffer);
bool is_returned(const kernel::Buffer& buffer);

class BufferSet {
 public:
  /// Allocates and poisons. Every layout must have passed check_layout. `misalign_bytes` shifts
  /// each buffer by that much, rounded up to its own alignment.
  static Got<BufferSet> create(const Context& context, const kernel::Program& program,
                               int misalign_bytes, uint64_t seed);

  /// Parallel to the program's buffers; 0 for absent ones.
  const std::vector<CuDevicePtr>& addresses() const { return addresses_; }
  /// Storage of all buffers without guards.
  uint64_t storage_bytes() const;

  /// Copies inputs and inouts into the buffers.
  Went upload(const Sources& inputs);
  /// Storage of one buffer; its address is 0 when it is absent or empty.
  DeviceSpan span(size_t index) const;
  /// True when a buffer's storage is the dense tensor, byte for byte.
  bool is_plain(size_t index) const;
  uint32_t pattern(size_t index) const { return slots_[index].pattern; }
  /// Queues the "= 0" fills; belongs to the call and inside the clock.
  Went enqueue_zero_fills();
  /// Copies outputs and inouts to the host.
  Went download(const MutableBytes& outputs);
  /// audit_hash of each returned buffer's dense contents, 0 for others.
  Got<std::vector<uint64_t>> hash_outputs(JobKernels& kernels, uint64_t seed,
                                          const Deadline& deadline);

  /// Guard zones that were written to; they are restored, so that the next hit is a new one.
  Got<std::vector<record::Finding>> check_guards();
  /// Inputs changed, "kept" scratch not zero. `inputs` as given to upload().
  Got<std::vector<record::Finding>> check_contents(JobKernels& kernels, const Sources& inputs,
                                                   const Deadline& deadline);
  /// Outputs that still hold poison, in what download() delivered.
  std::vector<record::Finding> check_written(const MutableBytes& outputs) const;

 private:
  struct Slot {
    DeviceMemory memory;
    uint64_t offset = 0;  // of the buffer inside the allocation
    uint32_t pattern = 0;
  };
  BufferSet(const Context& context, const kernel::Program& program)
      : context_(&context), program_(&program) {}
  Went add(const kernel::Buffer& buffer, int misalign_bytes, uint64_t seed);
  Went check_zone(size_t index, uint64_t offset, uint64_t bytes,
                  std::vector<record::Finding>& findings);
  Went upload_one(size_t index, const Source& source);
  Went check_input(JobKernels& kernels, size_t index, const Source& source,
                   const Deadline& deadline, std::vector<record::Finding>& findings);
  Went compare_input(size_t index, std::span<const std::byte> dense,
                     std::vector<record::Finding>& findings);
  Went check_kept(size_t index, std::vector<record::Finding>& findings);
  std::vector<std::byte> storage_image(size_t index, std::span<const std::byte> dense) const;
  record::Finding finding(record::FindingKind kind, size_t index, int64_t byte) const;

  const Context* context_;
  const kernel::Program* program_;
  std::vector<Slot> slots_;
  std::vector<CuDevicePtr> addresses_;
};

}  // namespace kw::cuda
