// The memory of one call of a program: built from the inputs before the first launch, judged and
// collected after the last one.
#pragma once

#include <string>
#include <vector>

#include "ports/device.h"
#include "vgpu/finding_log.h"
#include "vgpu/image.h"

namespace kw::vgpu {

/// Which launch used which segments, to find the instruction behind a stamp after the run.
struct LaunchSegments {
  uint32_t first = 1;
  const Code* code = nullptr;
  const kernel::Launch* launch = nullptr;
};

class ProgramMemory {
 public:
  /// `misalign_bytes`: how far every buffer's address is from a well aligned one, rounded up to
  /// what the buffer is declared to have. `places`: where buffers lie, so that nothing can be told
  /// from a pointer; 0: in the middle of their regions.
  ProgramMemory(const Image& image, const kernel::Program& program, int misalign_bytes,
                uint64_t places);

  /// An Error for inputs that do not fit their buffers. Throws std::bad_alloc.
  /// `inputs` must outlive this: dense ones are used in place.
  Status fill(const ports::InputViews& inputs);
  Regions& regions() { return regions_; }
  /// The address a kernel gets for a buffer; 0 for an absent one.
  uint64_t buffer_address(int buffer) const;
  /// A zeroed barrier for the grid of a cooperative launch.
  uint64_t reset_workspace();

  /// Outputs nobody wrote, scratch that is not zero again, module variables that changed.
  void judge(const std::vector<LaunchSegments>& launches, FindingLog& log);
  /// `stamped`: writes were recorded, so that what nobody wrote can be told apart.
  std::vector<tensor::HostTensor> collect_outputs(bool stamped);

 private:
  Region& region_of_buffer(size_t buffer) {
    return regions_.row(first_ + static_cast<uint32_t>(buffer));
  }
  uint64_t shift_of(size_t buffer) const;
  std::byte* make_result(size_t buffer, size_t bytes);
  void poison_unwritten(size_t buffer);
  void judge_output(size_t buffer, const LaunchSegments& last, FindingLog& log);
  void judge_scratch(size_t buffer, const LaunchSegments& last, FindingLog& log);
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

/// Bytes of host memory the program's buffers need with their stamps, for the check before
/// allocating.
uint64_t needed_bytes(const kernel::Program& program);
uint64_t physical_bytes();

}  // namespace kw::vgpu
