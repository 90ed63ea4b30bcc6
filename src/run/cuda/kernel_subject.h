// One trusted kernel with fixed parameters, timed by the clock; calibration uses it.
#pragma once

#include "cuda/image.h"
#include "cuda/subject.h"

namespace kw::cuda {

class KernelSubject final : public Subject {
 public:
  /// `params` are 8-byte slots; a 4-byte parameter reads the lower half of its slot.
  KernelSubject(const Context& context, LoadedFunction& function, unsigned blocks, unsigned threads,
                std::vector<uint64_t> params);
  ~KernelSubject() override;

  const std::string& name() const override { return function_.entry; }
  FaultOr<size_t> make_copies(size_t) override { return size_t{1}; }
  const CallBuffers& buffers(size_t) const override { return none_; }
  const std::vector<std::vector<DeviceSpan>>& pool() const override { return pool_; }
  MaybeFault enqueue(size_t copy) override;
  FaultOr<CuGraph> graph(size_t copy) override;

 private:
  const Context& context_;
  LoadedFunction& function_;
  const unsigned blocks_, threads_;
  std::vector<uint64_t> params_;
  const CallBuffers none_;
  const std::vector<std::vector<DeviceSpan>> pool_ = {{}};
  CuGraph graph_ = nullptr;
};

}  // namespace kw::cuda
