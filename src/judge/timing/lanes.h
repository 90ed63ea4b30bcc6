// The devices of a search: one lane per GPU, used exclusively and with its own pools, so lanes
// never wait for each other. Without a GPU there is one lane with only the virtual GPU.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "timing/bench.h"

namespace kw::timing {

/// One timed shape on one GPU.
struct LaneShape {
  std::optional<gate::Pool> own_pool;  // if the gate's pool lacks this complete shape
  std::optional<TimedShape> shape;
  std::map<std::string, std::unique_ptr<TimedCandidate>> ready;  // by id; judged at this shape
};

struct Lane {
  BenchTools tools;
  verification::VerifyPools pools;
  std::vector<LaneShape> shapes;  // the timed shapes of the judge
};

class Lanes {
 public:
  /// The GPU of `tools`, and further GPUs of the same kind that can be opened. What `tools` points
  /// to must outlive the lanes.
  static Result<std::unique_ptr<Lanes>> open(const BenchTools& tools);
  /// Only the GPU of `tools`.
  static std::unique_ptr<Lanes> single(const BenchTools& tools);
  ~Lanes();

  std::vector<std::unique_ptr<Lane>>& all() { return lanes_; }
  Lane& first() { return *lanes_.front(); }
  bool has_gpu() const { return lanes_.front()->tools.verify.gpu != nullptr; }
  /// Why a GPU of this machine is not used.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Lanes();
  struct Parts;  // devices of the further lanes
  std::vector<std::unique_ptr<Parts>> parts_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::string> notes_;
};

}  // namespace kw::timing
