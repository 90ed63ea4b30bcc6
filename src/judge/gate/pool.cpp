// The problem: a candidate that knows its inputs could return stored answers. The pool draws seeds
// from the operating system and keeps them secret; a cell whose seed is published gets a new one.
// Truths are the main cost, so sets are computed once and shared by all candidates, up to a memory
// limit. The alternative, fresh inputs for every candidate, would compute all truths again each
// time. The cost is memory, 8 GiB by default; sets beyond the limit are recomputed on demand.
#include "gate/pool.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "core/contains.h"
#include "core/hash.h"
#include "gate/plain_error.h"
#include "inputs/families.h"
#include "ports/audit_hash.h"
#include "record/verdict.h"
#include "shapes/scalar_cases.h"

namespace kw::gate {

namespace {

constexpr uint64_t kTurnPurpose = 1 << 20;  // no cell has this number

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
    bytes += truth.others.size() * sizeof(ports::OtherValue);
    if (truth.scores) bytes += truth.scores->value.size() * 8 + truth.scores->bound.size() * 4;
  }
  return bytes;
}

constexpr size_t kObligatory = 2;  // of all_families(), from the first

/// Every known shape gets it: which structure a line has differs from cell to cell.
constexpr const char* kStructured = "structured";
/// Pairs of integers of medium size are rare; it takes a few thousand to meet one.
constexpr const char* kExtremes = "extremes";
constexpr double kManyElements = 4096;
/// A kernel may be wrong for one exponent of the type: some of thousands of elements have it.
constexpr const char* kMagnitudes = "magnitudes";
constexpr int kMagnitudeSets = 4;
constexpr double kStructuredWork = 1e6;
// A run has so many cells with several lines of every structure. Two of four have plain rows.
constexpr size_t kRichCells = 4;
constexpr int64_t kRichLines = 2 * inputs::kStructures, kRichRow = 16;

constexpr int64_t kLongRow = 1100;  // rows with every family: longer than a block, but quick
constexpr int64_t kShortRow = 8;    // in shorter rows, a planted value often is the maximum

/// The longest last extent of an input.
int64_t row_extent(const graph::Graph& graph) {
  int64_t longest = 0;
  for (const graph::NamedNode& input : graph.inputs) {
    const graph::Shape& shape = graph[input.node].shape;
    if (!shape.empty()) longest = std::max(longest, shape.back().value());
  }
  return longest;
}

double elements_of(const graph::Graph& graph) {
  double most = 0;
  for (const graph::NamedNode& input : graph.inputs) {
    double elements = 1;
    for (const graph::Dim& dim : graph[input.node].shape)
      elements *= static_cast<double>(dim.value());
    most = std::max(most, elements);
  }
  return most;
}

/// Dims, and scalars that differ from the task's: "N=8 lr=0.5".
std::string case_text(const shapes::ShapeCase& shape) {
  std::string text = task::dims_text(shape.dims);
  for (const auto& [name, value] : shape.graph.scalars)
    text += fmt::format("{}{}={:g}", text.empty() ? "" : " ", name, value);
  return text;
}

bool same_case(const shapes::ShapeCase& one, const shapes::ShapeCase& other) {
  return one.dims == other.dims && one.graph.scalars == other.graph.scalars;
}

/// Whether `structured` is worth its time: a large product shows it no better than a small one.
bool is_quick(const shapes::ShapeCase& shape, double full_work) {
  constexpr double kPerElement = 8;
  return shape.work <= full_work &&
         (shape.work <= kStructuredWork || shape.work <= kPerElement * elements_of(shape.graph));
}

/// Such an input may be the identity.
bool has_square_input(const graph::Graph& graph) {
  return std::ranges::any_of(graph.inputs, [&](const graph::NamedNode& input) {
    const graph::Shape& shape = graph[input.node].shape;
    const size_t rank = shape.size();
    return rank > 1 && shape[rank - 1].value() == shape[rank - 2].value() &&
           shape[rank - 1].value() > 1;
  });
}

/// Whether a tensor has several lines of every structure. Square inputs do not count: every other
/// time they are the identity.
bool is_rich(const graph::Graph& graph) {
  if (has_square_input(graph)) return false;
  return std::ranges::any_of(graph.inputs, [&](const graph::NamedNode& input) {
    const graph::Shape& shape = graph[input.node].shape;
    int64_t elements = 1;
    for (const graph::Dim& dim : shape) elements *= dim.value();
    if (shape.size() == 1) return elements >= kRichLines * inputs::kStructureSegment;
    return !shape.empty() && shape.back().value() >= kRichRow &&
           elements >= kRichLines * shape.back().value();
  });
}

/// Repeats `structured` at the cheapest shape with many lines until there are enough such cells.
void add_rich_cells(const std::vector<shapes::ShapeCase>& cases,
                    std::vector<std::vector<std::string>>* families) {
  size_t cells = 0;
  std::vector<std::string>* cheapest = nullptr;
  for (size_t i = 0; i < cases.size(); ++i) {
    std::vector<std::string>& of_shape = (*families)[i];
    if (!contains(of_shape, kStructured) || !is_rich(cases[i].graph)) continue;
    cells += static_cast<size_t>(std::ranges::count(of_shape, kStructured));
    const bool quick = !cases[i].secret && cases[i].work <= kStructuredWork;
    if (quick && cheapest == nullptr) cheapest = &of_shape;
  }
  for (; cheapest != nullptr && cells < kRichCells; ++cells) cheapest->emplace_back(kStructured);
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

Result<Pool> Pool::make(const task::Task& task, ports::Oracle& oracle, shapes::ShapePlan shapes,
                        const PoolOptions& options, const Entropy& entropy) {
  Pool pool(task, oracle, std::move(shapes), options);
  if (entropy) pool.hash_seed_ = KW_TRY(entropy());
  if (options.scalars) {
    const uint64_t seed = options.seed ? *options.seed : KW_TRY(entropy());
    KW_TRY(shapes::add_scalar_cases(task, seed, options.full_work, pool.shapes_));
  }
  // Cheap shapes come first, because they reject most wrong candidates.
  std::ranges::stable_sort(pool.shapes_.cases, {}, &shapes::ShapeCase::work);
  KW_TRY(pool.plan_cells(entropy));
  return pool;
}

// The shapes that get every family: a few of medium work, of those that are not too large.
std::vector<size_t> Pool::full_shapes() const {
  const auto wanted = static_cast<size_t>(options_.full_shapes);
  std::vector<size_t> small;  // their costs are known, those of secret shapes differ by run
  for (size_t i = 0; i < shapes_.cases.size(); ++i) {
    const shapes::ShapeCase& shape = shapes_.cases[i];
    if (!shape.secret && shape.work <= options_.full_work) small.push_back(i);
  }
  if (small.size() <= wanted) return small;
  // One with short rows: threads without an element, and results of few terms, are common there.
  const auto shortest = std::ranges::find_if(small, [&](size_t shape) {
    const int64_t length = row_extent(shapes_.cases[shape].graph);
    return length > 1 && length <= kShortRow;
  });
  // One with rows longer than a block, whose warps must agree, and others from the middle.
  const auto longest = std::ranges::max_element(small, {}, [&](size_t shape) {
    const int64_t length = row_extent(shapes_.cases[shape].graph);
    return length > kLongRow ? 0 : length;
  });
  std::vector<size_t> chosen = {*longest};
  if (shortest != small.end() && *shortest != *longest) chosen.push_back(*shortest);
  for (size_t i = small.size() / 2; i < small.size() && chosen.size() < wanted; ++i) {
    if (small[i] != *longest) chosen.push_back(small[i]);
  }
  return chosen;
}

// The other shapes get the two most effective families and take turns with the rest, so that every
// family is used at many shapes.
std::vector<std::string> Pool::families_of(size_t shape, const std::vector<size_t>& full,
                                           size_t* turn) const {
  if (!options_.family.empty()) return {options_.family};
  std::vector<std::string> all = inputs::families_for(*task_);
  if (contains(full, shape)) {
    all.emplace_back(inputs::kImmediatesFamily);
    if (contains(all, kStructured) && has_square_input(shapes_.cases[shape].graph))
      all.emplace_back(kStructured);
    return all;
  }
  const auto sets =
      static_cast<size_t>(shapes_.cases[shape].secret ? 2 : std::max(options_.sets_per_shape, 2));
  // At the benchmark shape also `offset`, whose long sums leave the range of halves.
  const size_t also = shapes_.cases[shape].benchmark ? 1 : 0;
  const size_t fixed = std::min(kObligatory + also, all.size());
  std::vector<std::string> names(all.begin(), all.begin() + static_cast<long>(fixed));
  const shapes::ShapeCase& at = shapes_.cases[shape];
  const auto add = [&](const char* name, bool wanted) {
    if (wanted && contains(all, name) && !contains(names, name)) names.emplace_back(name);
  };
  const bool quick = !at.secret && is_quick(at, options_.full_work);
  const size_t most = sets + (quick && contains(all, kStructured) ? 1 : 0);
  add(kStructured, quick);
  add(kExtremes, shape == many_elements_);
  while (names.size() < most) {
    // With few families the first one is drawn again with another seed.
    names.push_back(all.size() > fixed ? all[fixed + (*turn)++ % (all.size() - fixed)] : all[0]);
  }
  const bool twice = at.work <= kStructuredWork && has_square_input(at.graph);
  if (contains(names, kStructured) && twice) names.emplace_back(kStructured);
  const bool exponents = shape == many_elements_ && contains(all, kMagnitudes);
  for (int i = 0; exponents && i < kMagnitudeSets; ++i) names.emplace_back(kMagnitudes);
  return names;
}

Status Pool::plan_cells(const Entropy& entropy) {
  const std::vector<size_t> full = full_shapes();
  // The cheapest shape of many elements.
  for (many_elements_ = 0; many_elements_ < shapes_.cases.size(); ++many_elements_) {
    const shapes::ShapeCase& at = shapes_.cases[many_elements_];
    if (at.work <= options_.full_work && elements_of(at.graph) >= kManyElements) break;
  }
  // Which family a shape gets is secret too.
  size_t turn = inputs::derive_seed(options_.seed ? *options_.seed : hash_seed_, kTurnPurpose) %
                inputs::kTurns;
  // So is at which turn of a family the cells begin. Those with many lines take turns among each
  // other, or a run may see one structure in few lines only.
  std::map<std::pair<std::string, bool>, uint64_t> turns;
  const auto next_turn = [&, first = turn](const std::string& family, bool rich) {
    const auto at = turns.try_emplace({family, rich}, 0).first;
    const uint64_t purpose = hash64(family) + (rich ? 1 : 0);
    return inputs::derive_seed(first, purpose) + at->second++;
  };
  std::vector<std::vector<std::string>> families;
  for (size_t shape = 0; shape < shapes_.cases.size(); ++shape)
    families.push_back(families_of(shape, full, &turn));
  if (options_.family.empty()) add_rich_cells(shapes_.cases, &families);
  for (size_t shape = 0; shape < shapes_.cases.size(); ++shape) {
    const bool rich = is_rich(shapes_.cases[shape].graph);
    for (const std::string& family : families[shape]) {
      uint64_t seed = 0;
      if (!options_.seed)
        seed = KW_TRY(entropy());
      else
        seed = cells_.empty() ? *options_.seed : inputs::derive_seed(*options_.seed, cells_.size());
      // A repro command must give the same inputs even if it runs fewer cells.
      if (options_.seed && !options_.family.empty())
        seed = *options_.seed;
      else
        seed = inputs::with_turn(seed, next_turn(family, rich && family == kStructured));
      cells_.push_back({shape, family, seed});
    }
  }
  kept_.resize(cells_.size());
  return Done{};
}

ports::TruthOptions Pool::truth_options() const {
  ports::TruthOptions options;
  options.threads = options_.threads;
  options.allow_tf32 = task_->precision.allow_tf32;
  options.flush = task_->precision.flush;
  return options;
}

Result<std::vector<ports::Truth>> Pool::truths(size_t shape,
                                               const std::vector<tensor::HostTensor>& inputs) {
  const Stopwatch watch(&seconds_);
  return oracle_->truth(case_at(shape).graph, inputs, truth_options());
}

Result<SetPtr> Pool::make_set(size_t shape, const std::string& family, uint64_t seed,
                              const inputs::Immediates* immediates) {
  const shapes::ShapeCase& at = case_at(shape);
  auto set = std::make_shared<PoolSet>();
  {
    const Stopwatch watch(&seconds_);
    set->inputs = KW_TRY(inputs::draw_inputs(*task_, at.graph, at.dims, family, seed, immediates));
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
  if (has_plain_error(*task_, at.graph, family)) {
    const Stopwatch watch(&seconds_);
    KW_TRY(add_plain_error(*oracle_, *task_, at.graph, set->inputs, truth_options(), set->truths));
  }
  if (has_tolerance(*task_)) {
    const Stopwatch watch(&seconds_);
    KW_TRY(add_largest_plain_error(*oracle_, *task_, at.graph, set->inputs, truth_options(),
                                   set->truths));
  }
  return SetPtr(std::move(set));
}

Result<SetPtr> Pool::set(size_t cell) {
  if (kept(cell)) return kept(cell);
  const PoolCell& wanted = this->cell(cell);
  SetPtr made = KW_TRY(make_set(wanted.shape, wanted.family, wanted.seed));
  const uint64_t bytes = bytes_of(*made);
  if (kept_bytes_ + bytes <= options_.max_bytes) {
    kept(cell) = made;
    kept_bytes_ += bytes;
  }
  return made;
}

std::vector<const shapes::ShapeCase*> Pool::all_shapes() const {
  std::vector<const shapes::ShapeCase*> all;
  for (const shapes::ShapeCase& shape : shapes_.cases) all.push_back(&shape);
  for (const auto& shape : extra_shapes_) all.push_back(shape.get());
  return all;
}

Result<size_t> Pool::extra_cell(const shapes::ShapeCase& shape, const std::string& family,
                                const Entropy& entropy) {
  for (size_t i = 0; i < extra_cells_.size(); ++i) {
    const PoolCell& known = extra_cells_[i];
    if (known.family == family && same_case(case_at(known.shape), shape)) return cells_.size() + i;
  }
  size_t at = 0;
  while (at < extra_shapes_.size() && !same_case(*extra_shapes_[at], shape)) ++at;
  if (at == extra_shapes_.size())
    extra_shapes_.push_back(std::make_shared<shapes::ShapeCase>(shape));
  PoolCell cell{shapes_.cases.size() + at, family, 0};
  // A replayed seed depends on the cell alone, not on what ran before.
  if (options_.seed)
    cell.seed = inputs::derive_seed(*options_.seed, hash64(case_text(shape) + family));
  else
    cell.seed = KW_TRY(entropy());
  extra_cells_.push_back(std::move(cell));
  extra_kept_.emplace_back();
  return cells_.size() + extra_cells_.size() - 1;
}

Status Pool::prepare(const std::function<bool()>& interrupted) {
  for (size_t cell = 0; cell < cells_.size(); ++cell) {
    if (interrupted && interrupted()) return environment_error("interrupted");
    if (kept_bytes_ >= options_.max_bytes) break;
    if (cells_[cell].family == inputs::kImmediatesFamily) continue;  // differs for each candidate
    KW_TRY(set(cell));
  }
  return Done{};
}

Status Pool::renew(size_t cell, const Entropy& entropy) {
  PoolCell& renewed = cell < cells_.size() ? cells_[cell] : extra_cells_[cell - cells_.size()];
  const uint64_t turn = renewed.seed % inputs::kTurns;
  renewed.seed = inputs::with_turn(KW_TRY(entropy()), turn);
  if (kept(cell)) kept_bytes_ -= bytes_of(*kept(cell));
  kept(cell) = nullptr;
  return Done{};
}

bool is_obligatory(const std::string& family) {
  const auto end = inputs::all_families().begin() + kObligatory;
  return std::find(inputs::all_families().begin(), end, family) != end;
}

record::Cell cell_record(const Pool& pool, const PoolCell& cell) {
  return record::Cell{.shape = case_text(pool.shape(cell)),
                      .family = cell.family,
                      .seed = pool.replayable() ? cell.seed : 0,
                      .certified = !pool.replayable()};
}

}  // namespace kw::gate
