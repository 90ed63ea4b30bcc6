// The memory of one call of a program. It is built from the inputs before the first launch, and
// checked and collected after the last one.
#pragma once

#include <vector>

#include "ports/device.h"
#include "vgpu/decoded_image.h"
#include "vgpu/finding_log.h"

namespace kw::vgpu {

/// Which launch used which segments, to find the instruction of a stamp after the run.
struct LaunchSegments {
  uint32_t first = 1;
  const Code* code = nullptr;
  const kernel::Launch* launch = nullptr;
};

class ProgramMemory {
 public:
  /// `misalign_bytes`: distance of every buffer's address from an aligned one, rounded up to the
  /// declared alignment of the buffer. `places`: seed of the buffer addresses, so that a kernel
  /// cannot guess them; 0: the middle of their slots. `close`: as near as on a device.
  ProgramMemory(const Image& image, const kernel::Program& program, int misalign_bytes,
                uint64_t places, bool close);

  /// Returns an Error when inputs do not fit their buffers. Throws std::bad_alloc.
  /// `inputs` must outlive this object: dense ones are used in place.
  Status fill(const ports::InputViews& inputs);
  Regions& regions() { return regions_; }
  /// The address of a buffer that a kernel gets; 0 for an absent buffer.
  uint64_t buffer_address(int buffer) const;
  /// Zeroes the grid barrier of a cooperative launch and returns its address.
  uint64_t reset_workspace();

  /// Reports outputs that were not written, scratch that is not zero again, and module variables
  /// that changed.
  void judge(const std::vector<LaunchSegments>& launches, FindingLog& log);
  /// `stamped`: writes were recorded, so unwritten elements are known and get a poison value.
  std::vector<tensor::HostTensor> collect_outputs(bool stamped);

 private:
  MemoryRegion& region_of_buffer(size_t buffer) {
    return regions_.row(first_ + static_cast<uint32_t>(buffer));
  }
  uint64_t shift_of(size_t buffer) const;
  std::byte* make_result(size_t buffer, size_t bytes);
  void poison_unwritten(size_t buffer);
  void judge_output(size_t buffer, const LaunchSegments& last, FindingLog& log);
  void judge_scratch(size_t buffer, const LaunchSegments& last, FindingLog& log);
  void define_elements(const kernel::Buffer& buffer, MemoryRegion& region);
  void judge_gaps(size_t buffer, const std::vector<LaunchSegments>& launches, FindingLog& log);
  void judge_variable(uint32_t number, const std::vector<LaunchSegments>& launches,
                      FindingLog& log);

  const Image& image_;
  const kernel::Program& program_;
  int misalign_bytes_;
  uint64_t places_;
  Regions regions_;
  uint32_t first_ = 1;                             // region of buffer 0
  uint32_t workspace_ = 0;                         // region
  std::vector<tensor::Bytes> results_;             // by buffer; empty: collected at the end
  std::vector<std::vector<std::byte>> variables_;  // initial content, by region number
};

/// Bytes of host memory for the program's buffers with their stamps. Checked before allocating.
uint64_t needed_bytes(const kernel::Program& program);
uint64_t physical_bytes();

}  // namespace kw::vgpu
