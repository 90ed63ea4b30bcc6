// The secret pool of one task: several sets of inputs with truths for every shape. Seeds come from
// the operating system and stay secret; with a given seed the pool is replayable instead. Sets are
// computed when first needed and kept, so that many candidates share them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "gate/known_bits.h"
#include "inputs/immediates.h"
#include "ports/oracle.h"
#include "record/verdict.h"
#include "shapes/shapes.h"
#include "task/task.h"
#include "tensor/host_tensor.h"

namespace kw::gate {

/// Returns 63 unpredictable bits.
using Entropy = std::function<Result<uint64_t>()>;

struct PoolOptions {
  int sets_per_shape = 4;
  int full_shapes = 3;                     // number of shapes that get every family
  double full_work = 1e8;                  // … unless their work exceeds this
  std::optional<uint64_t> seed;            // replayable; not set: seeds come from entropy
  std::string family;                      // use only this family; "" = as the task needs
  uint64_t max_bytes = uint64_t{8} << 30;  // of kept sets; further sets are recomputed on demand
  int threads = 0;
  bool scalars = false;  // also shapes with other values of runtime scalars (scalar_cases.h)
};

/// One shape, family and seed.
struct PoolCell {
  size_t shape = 0;  // index into shapes().cases
  std::string family;
  uint64_t seed = 0;
};

struct PoolSet {
  std::vector<tensor::HostTensor> inputs;  // parallel to the graph's inputs
  std::vector<uint64_t> hashes;            // of their contents: ports::audit_hash, seed 0
  std::vector<ports::Truth> truths;        // parallel to the graph's outputs
  std::shared_ptr<KnownBits> known = std::make_shared<KnownBits>();  // outputs judged right
};
/// Shared, because the pool may drop a set while a candidate is judged with it.
using SetPtr = std::shared_ptr<const PoolSet>;

class Pool {
 public:
  /// The task and the oracle must outlive the pool. Draws seeds; computes no set yet.
  static Result<Pool> make(const task::Task& task, ports::Oracle& oracle, shapes::ShapePlan shapes,
                           const PoolOptions& options, const Entropy& entropy);

  const task::Task& task() const { return *task_; }
  const shapes::ShapePlan& shapes() const { return shapes_; }
  const shapes::ShapeCase& shape(const PoolCell& cell) const { return case_at(cell.shape); }
  /// The cells that every candidate runs.
  const std::vector<PoolCell>& cells() const { return cells_; }
  /// One of these, or an extra one by the number that extra_cell() gave.
  const PoolCell& cell(size_t number) const {
    return number < cells_.size() ? cells_[number] : extra_cells_[number - cells_.size()];
  }
  /// Adds a cell at a shape that only some candidates need. The same shape, scalars and family give
  /// the same cell again.
  Result<size_t> extra_cell(const shapes::ShapeCase& shape, const std::string& family,
                            const Entropy& entropy);
  /// The planned shapes, and those that candidates needed in addition.
  std::vector<const shapes::ShapeCase*> all_shapes() const;
  bool replayable() const { return options_.seed.has_value(); }
  /// The seed of all output hashes. It is secret, and the same for all candidates, so that they
  /// share the known bits of a set.
  uint64_t hash_seed() const { return hash_seed_; }

  /// Returns the set of a cell; computes it unless it is kept.
  Result<SetPtr> set(size_t cell);
  /// Computes a set of the same shape and family with the caller's seed; it is never kept.
  /// `immediates` of a candidate: for kImmediatesFamily.
  Result<SetPtr> make_set(size_t shape, const std::string& family, uint64_t seed,
                          const inputs::Immediates* immediates = nullptr);
  /// Returns the truths of given inputs at a shape.
  Result<std::vector<ports::Truth>> truths(size_t shape,
                                           const std::vector<tensor::HostTensor>& inputs);
  /// Computes every set that fits the memory limit.
  Status prepare(const std::function<bool()>& interrupted = {});
  /// Gives a new seed to a cell whose seed was published.
  Status renew(size_t cell, const Entropy& entropy);

  /// Seconds spent on inputs and truths so far.
  double seconds() const { return seconds_; }

 private:
  Pool(const task::Task& task, ports::Oracle& oracle, shapes::ShapePlan shapes, PoolOptions options)
      : task_(&task), oracle_(&oracle), shapes_(std::move(shapes)), options_(std::move(options)) {}
  Status plan_cells(const Entropy& entropy);
  ports::TruthOptions truth_options() const;
  std::vector<std::string> families_of(size_t shape, const std::vector<size_t>& full,
                                       size_t* turn) const;
  std::vector<size_t> full_shapes() const;
  const shapes::ShapeCase& case_at(size_t shape) const {
    return shape < shapes_.cases.size() ? shapes_.cases[shape]
                                        : *extra_shapes_[shape - shapes_.cases.size()];
  }
  SetPtr& kept(size_t cell) {
    return cell < cells_.size() ? kept_[cell] : extra_kept_[cell - cells_.size()];
  }

  const task::Task* task_;
  ports::Oracle* oracle_;
  shapes::ShapePlan shapes_;
  PoolOptions options_;
  uint64_t hash_seed_ = 0;
  size_t many_elements_ = 0;  // the shape of shapes_ that has `extremes` beside the full ones
  std::vector<PoolCell> cells_;
  std::vector<SetPtr> kept_;  // parallel to cells_
  std::vector<std::shared_ptr<const shapes::ShapeCase>>
      extra_shapes_;  // references to one stay valid
  std::vector<PoolCell> extra_cells_;
  std::vector<SetPtr> extra_kept_;  // parallel to extra_cells_
  uint64_t kept_bytes_ = 0;
  double seconds_ = 0;
};

/// Returns whether every shape gets this family.
bool is_obligatory(const std::string& family);

/// Returns shape ("B=7 D=64") and family of a cell for a verdict. The seed is included only if the
/// pool is replayable.
record::Cell cell_record(const Pool& pool, const PoolCell& cell);

}  // namespace kw::gate
