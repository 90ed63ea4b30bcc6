// A program's buffers in device memory: guard zones around each, poison where nothing may be relied
// on, inputs checked for writes afterwards. Knows nothing of launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda/context.h"
#include "kernel/program.h"
#include "record/finding.h"

namespace kw::cuda {

/// Bytes watched before and after every buffer.
inline constexpr uint64_t kGuardBytes = 16384;

/// Dense host bytes per buffer of a program; empty where a buffer has none to give or take.
using ConstBytes = std::vector<std::span<const std::byte>>;
using MutableBytes = std::vector<std::span<std::byte>>;

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

  /// Copies inputs and inouts to the device.
  Went upload(const ConstBytes& inputs);
  /// Queues the copying of inputs and inouts from another set of the same program.
  Went copy_inputs(const BufferSet& other);
  /// Keeps device copies of the inouts as they are now, for restore_inouts().
  Went keep_inouts();
  /// Queues putting the inouts back; belongs before each call and outside the clock.
  Went restore_inouts();
  /// Queues the "= 0" fills; belongs to the call and inside the clock.
  Went enqueue_zero_fills();
  /// Copies outputs and inouts to the host.
  Went download(const MutableBytes& outputs);

  /// Guard zones that were written to; they are restored, so that the next hit is a new one.
  Got<std::vector<record::Finding>> check_guards();
  /// Inputs changed, "kept" scratch not zero. `inputs` as given to upload().
  Got<std::vector<record::Finding>> check_contents(const ConstBytes& inputs);
  /// Outputs that still hold poison, in what download() delivered.
  std::vector<record::Finding> check_written(const MutableBytes& outputs) const;

 private:
  struct Slot {
    DeviceMemory memory;
    uint64_t offset = 0;  // of the buffer inside the allocation
    uint32_t pattern = 0;
    DeviceMemory kept;  // inouts: as they were before the first call
  };
  BufferSet(const Context& context, const kernel::Program& program)
      : context_(&context), program_(&program) {}
  Went add(const kernel::Buffer& buffer, int misalign_bytes, uint64_t seed);
  Went check_zone(size_t index, uint64_t offset, uint64_t bytes,
                  std::vector<record::Finding>& findings);
  Went check_input(size_t index, std::span<const std::byte> dense,
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
