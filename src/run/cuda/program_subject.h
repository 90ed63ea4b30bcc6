// A kernel module's program as a subject of the clock: buffer sets with guards and poison, its
// launches, its inputs in device memory.
#pragma once

#include "cuda/run_program.h"
#include "cuda/subject.h"

namespace kw::cuda {

class ProgramSubject final : public Subject {
 public:
  /// The arguments must outlive it. Every set of `pool` must have passed check_program. `seed`
  /// changes the buffers' addresses.
  ProgramSubject(const Context& context, JobKernels& kernels, LoadedImage& image,
                 const kernel::Program& program, const std::vector<Sources>& pool, uint64_t seed);
  ~ProgramSubject() override;

  /// Looks up the launches, uploads the pool, makes the first set. Must be called first.
  MaybeFault prepare();

  const std::string& name() const override { return program_.module_name; }
  FaultOr<size_t> make_copies(size_t wanted) override;
  const CallBuffers& buffers(size_t copy) const override { return copies_[copy].buffers; }
  const std::vector<std::vector<DeviceSpan>>& pool() const override { return spans_; }
  MaybeFault enqueue(size_t copy) override;
  bool fits_queue() const override;
  FaultOr<CuGraph> graph(size_t copy) override;
  FaultOr<std::vector<uint64_t>> all_hashes(size_t copy, std::vector<uint64_t> dense,
                                            uint64_t seed) override;
  MaybeFault copy_out(size_t copy, const MutableBytes& to) override;
  FaultOr<std::vector<record::Finding>> check(const std::vector<size_t>& entries,
                                              const Deadline& deadline) override;

 private:
  struct Copy {
    BufferSet set;
    CallBuffers buffers;
    CuGraph graph = nullptr;
  };
  MaybeFault add_copy();
  MaybeFault add_entry(const Sources& sources);

  const Context& context_;
  JobKernels& kernels_;
  LoadedImage& image_;
  const kernel::Program& program_;
  const std::vector<Sources>& given_;
  const uint64_t seed_;
  std::vector<ReadyLaunch> launches_;
  std::vector<Copy> copies_;
  std::vector<std::vector<DeviceSpan>> spans_;  // of the pool, in the layout of the buffers
  std::vector<DeviceMemory> owned_;             // the part of the pool that we allocated
  bool strided_outputs_ = false;
};

}  // namespace kw::cuda
