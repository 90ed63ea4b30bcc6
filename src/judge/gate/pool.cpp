// The problem: a candidate that knows its inputs could return stored answers. The pool draws seeds
// from the operating system and keeps them secret; a cell whose seed is published gets a new one.
// Truths are the main cost, so sets are computed once and shared by all candidates, up to a memory
// limit. The alternative, fresh inputs for every candidate, would compute all truths again each
// time. The cost is memory, 8 GiB by default; sets beyond the limit are recomputed on demand.
#include "gate/pool.h"

#include <algorithm>
#include <chrono>

#include "gate/families.h"
#include "ports/audit_hash.h"
#include "record/verdict.h"

namespace kw::gate {

namespace {

/// Part of the oracle's message about an index, and a hint for the user.
constexpr const char* kOutOfBounds = "is out of bounds for dimension";
constexpr const char* kRangeHint =
    "\n  hint: say which integers the input may hold: torch.randint(low, high, …) in get_inputs(), "
    "or "
    "low and below in [inputs.NAME] of a task's task.toml";

uint64_t bytes_of(const PoolSet& set) {
  uint64_t bytes = 0;
  for (const tensor::HostTensor& input : set.inputs) bytes += input.data.size();
  for (const ports::Truth& truth : set.truths) {
    bytes += (truth.value.size() + truth.integers.size()) * 8 + truth.may_overflow.size();
    bytes += (truth.a.size() + truth.h.size() + truth.jump.size()) * 4;
    if (truth.scores) bytes += truth.scores->value.size() * 8 + truth.scores->bound.size() * 4;
  }
  return bytes;
}

class Stopwatch {
 public:
  explicit Stopwatch(double* total) : total_(total) {}
  ~Stopwatch() {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    *total_ += passed.count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double* total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<Pool> Pool::make(const task::Task& task, ports::Oracle& oracle, ShapePlan shapes,
                        const PoolOptions& options, const Entropy& entropy) {
  Pool pool(task, oracle, std::move(shapes), options);
  if (entropy) pool.hash_seed_ = KW_TRY(entropy());
  // Cheap shapes come first, because they reject most wrong candidates.
  std::ranges::stable_sort(pool.shapes_.cases, {}, &ShapeCase::work);
  KW_TRY(pool.plan_cells(entropy));
  return pool;
}

// A few shapes of medium work get every family. The others get the two most effective families and
// take turns with the rest, so that every family is used at many shapes.
std::vector<std::string> Pool::families_of(size_t shape, size_t* turn) const {
  if (!options_.family.empty()) return {options_.family};
  const std::vector<std::string> all = families_for(*task_);
  const auto full = static_cast<size_t>(options_.full_shapes);
  const size_t middle = shapes_.cases.size() / 2;
  const bool chosen = shapes_.cases.size() <= full || (shape >= middle && shape < middle + full);
  if (chosen && shapes_.cases[shape].work <= options_.full_work) return all;
  const auto sets = static_cast<size_t>(std::max(options_.sets_per_shape, 2));
  const size_t fixed = std::min<size_t>(2, all.size());
  std::vector<std::string> names(all.begin(), all.begin() + static_cast<long>(fixed));
  while (names.size() < sets) {
    // With few families the first one is drawn again with another seed.
    names.push_back(all.size() > fixed ? all[fixed + (*turn)++ % (all.size() - fixed)] : all[0]);
  }
  return names;
}

Status Pool::plan_cells(const Entropy& entropy) {
  size_t turn = 0;
  for (size_t shape = 0; shape < shapes_.cases.size(); ++shape) {
    for (const std::string& family : families_of(shape, &turn)) {
      uint64_t seed = 0;
      if (!options_.seed)
        seed = KW_TRY(entropy());
      else
        seed = cells_.empty() ? *options_.seed : derive_seed(*options_.seed, cells_.size());
      // A repro command must give the same inputs even if it runs fewer cells.
      if (options_.seed && !options_.family.empty()) seed = *options_.seed;
      cells_.push_back({shape, family, seed});
    }
  }
  kept_.resize(cells_.size());
  return Done{};
}

Result<std::vector<ports::Truth>> Pool::truths(size_t shape,
                                               const std::vector<tensor::HostTensor>& inputs) {
  const Stopwatch watch(&seconds_);
  ports::TruthOptions options;
  options.threads = options_.threads;
  options.allow_tf32 = task_->precision.allow_tf32;
  options.flush = task_->precision.flush;
  return oracle_->truth(shapes_.cases[shape].graph, inputs, options);
}

Result<SetPtr> Pool::make_set(size_t shape, const std::string& family, uint64_t seed) {
  const ShapeCase& at = shapes_.cases[shape];
  auto set = std::make_shared<PoolSet>();
  {
    const Stopwatch watch(&seconds_);
    set->inputs = KW_TRY(draw_inputs(*task_, at.graph, at.dims, family, seed));
    for (const tensor::HostTensor& input : set->inputs)
      set->hashes.push_back(ports::audit_hash(input.data));
  }
  Result<std::vector<ports::Truth>> made = truths(shape, set->inputs);
  if (!made) {
    Error error =
        std::move(made).error().context("truth at " + task::dims_text(at.dims) + ", " + family);
    if (error.message.find(kOutOfBounds) != std::string::npos) error.message += kRangeHint;
    return error;
  }
  set->truths = std::move(made).value();
  return SetPtr(std::move(set));
}

Result<SetPtr> Pool::set(size_t cell) {
  if (kept_[cell]) return kept_[cell];
  const PoolCell& wanted = cells_[cell];
  SetPtr made = KW_TRY(make_set(wanted.shape, wanted.family, wanted.seed));
  const uint64_t bytes = bytes_of(*made);
  if (kept_bytes_ + bytes <= options_.max_bytes) {
    kept_[cell] = made;
    kept_bytes_ += bytes;
  }
  return made;
}

Status Pool::prepare(const std::function<bool()>& interrupted) {
  for (size_t cell = 0; cell < cells_.size(); ++cell) {
    if (interrupted && interrupted()) return environment_error("interrupted");
    if (kept_bytes_ >= options_.max_bytes) break;
    KW_TRY(set(cell));
  }
  return Done{};
}

Status Pool::renew(size_t cell, const Entropy& entropy) {
  cells_[cell].seed = KW_TRY(entropy());
  if (kept_[cell]) kept_bytes_ -= bytes_of(*kept_[cell]);
  kept_[cell] = nullptr;
  return Done{};
}

record::Cell cell_record(const Pool& pool, const PoolCell& cell) {
  return record::Cell{.shape = task::dims_text(pool.shape(cell).dims),
                      .family = cell.family,
                      .seed = pool.replayable() ? cell.seed : 0,
                      .certified = !pool.replayable()};
}

}  // namespace kw::gate
