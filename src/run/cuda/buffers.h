// A program's buffers in device memory: guard zones around each, poison in all that the caller does
// not fill, checks after a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda/context.h"
#include "cuda/jobs.h"
#include "kernel/caller_buffers.h"
#include "record/finding.h"

namespace kw::cuda {

/// Bytes checked before and after every buffer.
inline constexpr uint64_t kGuardBytes = 16384;

/// Dense host bytes per buffer of a program; empty if a buffer is not copied.
using ConstBytes = std::vector<std::span<const std::byte>>;
using MutableBytes = std::vector<std::span<std::byte>>;

/// The source of a buffer's dense contents: the host, or a copy already on this device.
struct Source {
  std::span<const std::byte> host;
  DeviceSpan device;  // address 0: not on the device
  uint64_t hash = 0;  // audit_hash with seed 0, when on the device
  uint64_t bytes() const { return device.address != 0 ? device.bytes : host.size(); }
};
/// One per buffer of a program; empty if a buffer is not filled.
using Sources = std::vector<Source>;
Sources from_host(const ConstBytes& inputs);
/// The dense bytes of a source, downloaded if they are on the device.
FaultOr<std::vector<std::byte>> on_host(const Context& context, const Source& source);

class BufferSet {
 public:
  /// Allocates and poisons. Every layout must have passed check_layout. `misalign_bytes` shifts
  /// each buffer, rounded up to its own alignment.
  static FaultOr<BufferSet> create(const Context& context, const kernel::Program& program,
                                   int misalign_bytes, uint64_t seed);

  /// Parallel to the program's buffers; 0 for absent ones.
  const std::vector<CuDevicePtr>& addresses() const { return addresses_; }
  /// Storage of all buffers without guards.
  uint64_t storage_bytes() const;

  /// Copies inputs and inouts into the buffers.
  MaybeFault upload(const Sources& inputs);
  /// Storage of one buffer; its address is 0 when it is absent or empty.
  DeviceSpan span(size_t index) const;
  /// True when a buffer's storage is the dense tensor, byte for byte.
  bool is_plain(size_t index) const;
  uint32_t pattern(size_t index) const { return slots_[index].pattern; }
  /// Queues the "= 0" fills. They are part of the call and are timed.
  MaybeFault enqueue_zero_fills();
  /// Copies outputs and inouts to the host.
  MaybeFault download(const MutableBytes& outputs);
  /// audit_hash of each returned buffer's dense contents, 0 for others.
  FaultOr<std::vector<uint64_t>> hash_outputs(JobKernels& kernels, uint64_t seed,
                                              const Deadline& deadline);

  /// Findings for guard zones that were written to. The zones are restored, so that the next hit is
  /// a new one.
  FaultOr<std::vector<record::Finding>> check_guards();
  /// Findings for changed inputs and for "kept" scratch that is not zero. `inputs` as given to
  /// upload().
  FaultOr<std::vector<record::Finding>> check_contents(JobKernels& kernels, const Sources& inputs,
                                                       const Deadline& deadline);
  /// Findings for outputs that still hold poison, in the bytes from download().
  std::vector<record::Finding> check_written(const MutableBytes& outputs) const;

 private:
  struct Slot {
    DeviceMemory memory;
    uint64_t offset = 0;  // of the buffer inside the allocation
    uint32_t pattern = 0;
  };
  BufferSet(const Context& context, const kernel::Program& program)
      : context_(&context), program_(&program) {}
  MaybeFault add(const kernel::Buffer& buffer, int misalign_bytes, uint64_t seed);
  MaybeFault check_zone(size_t index, uint64_t offset, uint64_t bytes,
                        std::vector<record::Finding>& findings);
  MaybeFault upload_one(size_t index, const Source& source);
  MaybeFault check_input(JobKernels& kernels, size_t index, const Source& source,
                         const Deadline& deadline, std::vector<record::Finding>& findings);
  MaybeFault compare_input(size_t index, std::span<const std::byte> dense,
                           std::vector<record::Finding>& findings);
  MaybeFault check_kept(size_t index, std::vector<record::Finding>& findings);
  std::vector<std::byte> storage_image(size_t index, std::span<const std::byte> dense) const;
  record::Finding finding(record::FindingKind kind, size_t index, int64_t byte) const;

  const Context* context_;
  const kernel::Program* program_;
  std::vector<Slot> slots_;
  std::vector<CuDevicePtr> addresses_;
};

}  // namespace kw::cuda
