// The secret pool of one task: for every shape several sets of inputs with their truths. Seeds come
// from the operating system and are shown to nobody; with a given seed the pool is replayable
// instead. Sets are made when first needed and kept, so that many candidates share them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "gate/known_bits.h"
#include "gate/shapes.h"
#include "ports/oracle.h"
#include "record/verdict.h"
#include "task/task.h"
#include "tensor/host_tensor.h"

namespace kw::gate {

/// Unpredictable bits, 63 at a time.
using Entropy = std::function<Result<uint64_t>()>;

struct PoolOptions {
  int sets_per_shape = 4;
  int full_shapes = 2;                     // so many shapes see every family
  double full_work = 1e8;                  // … unless they cost more
  std::optional<uint64_t> seed;            // replayable; none: entropy
  std::string family;                      // only this one; "" = as the task needs
  uint64_t max_bytes = uint64_t{8} << 30;  // of sets kept; beyond it they are made again
  int threads = 0;
};

/// One shape x family x seed.
struct PoolCell {
  size_t shape = 0;  // index into shapes().cases
  std::string family;
  uint64_t seed = 0;
};

struct PoolSet {
  std::vector<tensor::HostTensor> inputs;  // parallel to the graph's inputs
  std::vector<uint64_t> hashes;            // of their contents: exec::audit_hash, seed 0
  std::vector<ports::Truth> truths;        // parallel to its outputs
  std::shared_ptr<KnownBits> known = std::make_shared<KnownBits>();  // outputs judged right here
};
/// Shared: a set may leave the pool while a candidate is judged by it.
using SetPtr = std::shared_ptr<const PoolSet>;

class Pool {
 public:
  /// Task and oracle must outlive the pool. Draws seeds, makes no set yet.
  static Result<Pool> make(const task::Task& task, ports::Oracle& oracle, ShapePlan shapes,
                           const PoolOptions& options, const Entropy& entropy);

  const task::Task& task() const { return *task_; }
  const ShapePlan& shapes() const { return shapes_; }
  const ShapeCase& shape(const PoolCell& cell) const { return shapes_.cases[cell.shape]; }
  const std::vector<PoolCell>& cells() const { return cells_; }
  bool replayable() const { return options_.seed.has_value(); }
  /// Of every hash of outputs; secret, and the same for all candidates, so that they can share what
  /// is known of a set.
  uint64_t hash_seed() const { return hash_seed_; }

  /// The set of a cell, made now unless it is kept.
  Result<SetPtr> set(size_t cell);
  /// The same shape and family with a seed of the caller's; never kept.
  Result<SetPtr> make_set(size_t shape, const std::string& family, uint64_t seed);
  /// Truths of given inputs at a shape.
  Result<std::vector<ports::Truth>> truths(size_t shape,
                                           const std::vector<tensor::HostTensor>& inputs);
  /// Makes every set that fits the budget now.
  Status prepare(const std::function<bool()>& interrupted = {});
  /// A cell that was shown to someone gets a new seed.
  Status renew(size_t cell, const Entropy& entropy);

  /// Seconds spent on inputs and truths so far.
  double seconds() const { return seconds_; }

 private:
  Pool(const task::Task& task, ports::Oracle& oracle, ShapePlan shapes, PoolOptions options)
      : task_(&task), oracle_(&oracle), shapes_(std::move(shapes)), options_(std::move(options)) {}
  Status plan_cells(const Entropy& entropy);
  std::vector<std::string> families_of(size_t shape, size_t* turn) const;

  const task::Task* task_;
  ports::Oracle* oracle_;
  ShapePlan shapes_;
  PoolOptions options_;
  uint64_t hash_seed_ = 0;
  std::vector<PoolCell> cells_;
  std::vector<SetPtr> kept_;  // parallel to cells_
  uint64_t kept_bytes_ = 0;
  double seconds_ = 0;
};

/// "B=7 D=64" and family, as verdicts name a cell. The seed is put in only when it may be seen.
record::Cell cell_record(const Pool& pool, const PoolCell& cell);

}  // namespace kw::gate
