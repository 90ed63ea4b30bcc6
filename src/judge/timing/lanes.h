// The devices of a search: one exclusive lane per GPU, with pools of inputs of its own, so that
// lanes never wait for each other. Without a GPU there is one lane that only has the virtual GPU.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "timing/bench.h"

namespace kw::timing {

/// One of the shapes that candidates are timed at, on one GPU.
struct LaneShape {
  std::optional<gate::Pool> own_pool;  // when the gate's has not this shape whole
  std::optional<TimedShape> shape;
  std::map<std::string, std::unique_ptr<TimedCandidate>> ready;  // by id; judged at that shape
};

struct Lane {
  BenchTools tools;
  verification::VerifyPools pools;
  std::vector<LaneShape> shapes;  // the judge's
};

class Lanes {
 public:
  /// The tools' own GPU, and further ones of the same kind as far as they can be opened. What the
  /// tools point to must outlive the lanes.
  static Result<std::unique_ptr<Lanes>> open(const BenchTools& tools);
  /// The tools' own GPU alone.
  static std::unique_ptr<Lanes> single(const BenchTools& tools);
  ~Lanes();

  std::vector<std::unique_ptr<Lane>>& all() { return lanes_; }
  Lane& first() { return *lanes_.front(); }
  bool has_gpu() const { return lanes_.front()->tools.verify.gpu != nullptr; }
  /// Why a GPU that is there is not used.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Lanes();
  struct Parts;  // devices of the further lanes
  std::vector<std::unique_ptr<Parts>> parts_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::string> notes_;
};

}  // namespace kw::timing
