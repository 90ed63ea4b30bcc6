// Times graphs that another library captured, such as torch's. That library owns their memory; here
// they are only replayed, refilled and hashed.
#pragma once

#include "cuda/subject.h"

namespace kw::cuda {

/// One captured copy of a call. The handles must stay valid while it is timed.
struct ForeignCall {
  CuGraph graph = nullptr;
  std::vector<DeviceSpan> inputs, outputs;
};

class GraphSubject final : public Subject {
 public:
  /// Needs at least one call. Entries of `pool` are parallel to every call's inputs; without
  /// entries the contents are not changed.
  GraphSubject(const Context& context, std::string name, std::vector<ForeignCall> calls,
               std::vector<std::vector<DeviceSpan>> pool);
  ~GraphSubject() override;
  GraphSubject(const GraphSubject&) = delete;
  GraphSubject& operator=(const GraphSubject&) = delete;

  const std::string& name() const override { return name_; }
  FaultOr<size_t> make_copies(size_t wanted) override;
  const CallBuffers& buffers(size_t copy) const override { return buffers_[copy]; }
  const std::vector<std::vector<DeviceSpan>>& pool() const override { return pool_; }
  MaybeFault enqueue(size_t copy) override;
  FaultOr<CuGraph> graph(size_t copy) override { return calls_[copy].graph; }

 private:
  const Context& context_;
  const std::string name_;
  const std::vector<ForeignCall> calls_;
  std::vector<std::vector<DeviceSpan>> pool_;
  std::vector<CallBuffers> buffers_;
  std::vector<CuGraphExec> execs_;
};

}  // namespace kw::cuda
