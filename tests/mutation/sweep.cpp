// A survivor of the gate is equivalent if no input can tell it from the original. That cannot be
// proven in general, so it is tried: thousands of cells with extents 1 to 33, extents beside the
// constants of the code, and inputs that are ordinary, tied, tiny, huge, zero, or one of the code's
// own constants. Original outputs are kept: a mutant costs one run for each cell, and a difference
// is found by comparing bytes.
#include "sweep.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "inputs/families.h"
#include "shapes/binding.h"

namespace kw::mutation {

namespace {

constexpr int64_t kMostExtent = 1100;  // beside a constant of the code
constexpr double kAimedWork = 4e6;
constexpr size_t kShapes = 60, kThresholdShapes = 40, kTries = 1200;
constexpr size_t kFewCells = 24;  // less evidence than this decides nothing

using Random = std::mt19937_64;

void add_targets(const std::vector<std::string>& operands, int64_t most_extent,
                 std::set<double>* numbers, std::set<int64_t>* extents) {
  for (const std::string& operand : operands) {
    long long integer = 0;
    double number = 0;
    if (extents != nullptr && is_integer(operand, &integer) && integer > 1 && integer < most_extent)
      extents->insert({integer - 1, integer, integer + 1});
    if (is_float(operand, &number) && std::isfinite(number) && std::fabs(number) < 1e30)
      numbers->insert(number);
  }
}

Targets targets(const std::set<double>& numbers, const std::set<int64_t>& extents) {
  Targets made;
  made.numbers.assign(numbers.begin(), numbers.end());
  made.extents.assign(extents.begin(), extents.end());
  return made;
}

bool is_free(const task::TensorSpec& spec) {
  const task::Legal& legal = spec.legal;
  return tensor::is_float(spec.dtype) && tensor::dtype_size(spec.dtype) >= 2 && !legal.float_low &&
         !legal.float_high && !legal.positive && legal.structure == task::Structure::General;
}

class Inputs {
 public:
  Inputs(const task::Task& task, const Targets& targets, uint64_t seed)
      : task_(task), targets_(targets), random_(seed) {}

  Result<std::vector<tensor::HostTensor>> draw(const shapes::ShapeCase& shape) {
    // What is bounded, an index or an integer keeps the values that the judge calls legal.
    static constexpr const char* kLegal[] = {"normal", "uniform", "spikes"};
    auto tensors = KW_TRY(
        inputs::draw_inputs(task_, shape.graph, shape.dims, kLegal[random_() % 3], random_()));
    const uint64_t kind =
        targets_.only && !targets_.numbers.empty() ? 8 + random_() % 3 : random_() % 8;
    scale_ = std::exp2(static_cast<double>(static_cast<int>(random_() % 13) - 6));
    for (size_t i = 0; i < tensors.size(); ++i) {
      const task::TensorSpec* spec = task_.find_input(shape.graph.inputs[i].name);
      if (spec != nullptr && is_free(*spec)) fill(tensors[i], kind);
    }
    return tensors;
  }

 private:
  void fill(tensor::HostTensor& tensor, uint64_t kind) {
    const int64_t count = tensor::element_count(tensor.shape).value();
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < count; ++i) {
      double value = normal(random_);
      switch (kind) {
        case 1:
          value = std::round(value * 2) / 2;
          break;
        case 2:
          value *= scale_;
          break;
        case 3:
          value = random_() % 5 == 0 ? 0.0 : random_() % 9 == 0 ? -0.0 : value;
          break;
        case 4:
        case 8:
          value = targets_.numbers.empty() || random_() % 3 != 0 ? value : constant();
          break;
        case 5:
          value = 100 + value / 16;
          break;
        case 6:
          value = std::fabs(value);
          break;
        case 7:
          value = random_() % 16 == 0 ? value * 1000 : value;
          break;
        case 9:
          value = std::min(value, constant());
          break;  // it is the largest, or near
        case 10:
          value = std::max(value, constant());
          break;
        default:
          break;
      }
      tensor::set_element(tensor, i, value);
    }
  }

  double constant() {
    const double value = targets_.numbers[random_() % targets_.numbers.size()];
    const uint64_t which = random_() % 4;
    if (which == 0) return std::nextafterf(static_cast<float>(value), HUGE_VALF);
    if (which == 1) return std::nextafterf(static_cast<float>(value), -HUGE_VALF);
    return which == 2 ? -value : value;
  }

  const task::Task& task_;
  const Targets& targets_;
  Random random_;
  double scale_ = 1;
};

/// Shapes that the reference takes and that cost little.
class Shapes {
 public:
  Shapes(const task::Task& task, Random& random) : task_(task), random_(random) {
    for (const auto& [name, range] : task.dims) names_.push_back(name);
    if (names_.empty() && !task.benchmark_shapes.empty()) {
      for (const auto& [name, value] : task.benchmark_shapes.front()) names_.push_back(name);
    }
  }

  Result<std::vector<std::shared_ptr<const shapes::ShapeCase>>> make(const Targets& targets) {
    const bool aimed = targets.only && !targets.extents.empty();
    most_work_ = targets.most_work;
    for (size_t i = 0; i < kTries && made_.size() < kShapes && !aimed; ++i) KW_TRY(add(small()));
    const std::vector<int64_t>& extents = targets.extents;
    for (size_t i = 0; i < kTries / 2 && !extents.empty() && !names_.empty() &&
                       made_.size() < kShapes + kThresholdShapes;
         ++i) {
      task::Dims dims = small();
      const std::string& name = names_[random_() % names_.size()];
      const int64_t extent = extents[random_() % extents.size()];
      const auto range = task_.dims.find(name);
      if (range != task_.dims.end() && (extent < range->second.low || extent > range->second.high))
        continue;  // no such shape is asked for
      dims[name] = extent;
      KW_TRY(add(dims));
    }
    return made_;
  }

 private:
  task::Dims small() {
    task::Dims dims;
    for (const std::string& name : names_) {
      const auto range = task_.dims.find(name);
      const int64_t multiple = range == task_.dims.end() ? 1 : range->second.multiple;
      const int64_t low = range == task_.dims.end() ? 1 : std::max<int64_t>(1, range->second.low);
      const int64_t extent = std::max(low, 1 + static_cast<int64_t>(random_() % 33));
      dims[name] = (extent + multiple - 1) / multiple * multiple;
    }
    return dims;
  }

  Status add(const task::Dims& dims) {
    if (!seen_.insert(dims).second) return Done{};
    const auto derived = KW_TRY(shapes::derive_shape(task_, {}, dims, "sweep", most_work_));
    if (derived.shape) made_.push_back(std::make_shared<const shapes::ShapeCase>(*derived.shape));
    return Done{};
  }

  const task::Task& task_;
  Random& random_;
  double most_work_ = 0;
  std::vector<std::string> names_;
  std::set<task::Dims> seen_;
  std::vector<std::shared_ptr<const shapes::ShapeCase>> made_;
};

gate::CellRunner runner(gate::Programs& programs, const shapes::Matching& matching,
                        const task::Task& task) {
  ports::RunOptions options;
  options.threads = 1;
  options.timeout_seconds = 20;
  return {programs, matching, task, options};
}

bool same_number(const tensor::HostTensor& one, const tensor::HostTensor& other, int64_t index) {
  const double a = tensor::get_element(one, index), b = tensor::get_element(other, index);
  return a == b || (std::isnan(a) && std::isnan(b));
}

bool same_outputs(const shapes::ShapeCase& shape, const std::vector<tensor::HostTensor>& one,
                  const std::vector<tensor::HostTensor>& other) {
  for (size_t i = 0; i < one.size(); ++i) {
    if (one[i].data == other[i].data) continue;
    if (!tensor::is_float(one[i].dtype) ||
        gate::moves_only(shape.graph, shape.graph.outputs[i].node))
      return false;
    const int64_t count = tensor::element_count(one[i].shape).value();
    for (int64_t k = 0; k < count; ++k) {
      if (!same_number(one[i], other[i], k)) return false;
    }
  }
  return true;
}

}  // namespace

Targets targets_of(const MutatingCompiler& compiler) {
  std::set<double> numbers;
  std::set<int64_t> extents;
  for (const PtxLines* lines : compiler.texts()) {
    for (const Instruction& one : lines->instructions())
      add_targets(one.operands, kMostExtent, &numbers, one.is("setp") ? &extents : nullptr);
  }
  return targets(numbers, extents);
}

Targets targets_of(const Mutation& mutation) {
  std::set<double> numbers;
  std::set<int64_t> extents;
  const PtxLines lines(".func x\n" + mutation.text);
  for (const Instruction& one : lines.instructions())
    add_targets(one.operands, 1 << 20, &numbers, one.is("setp") ? &extents : nullptr);
  Targets made = targets(numbers, extents);
  made.most_work = kAimedWork;
  made.only = true;
  return made;
}

Result<Sweep> Sweep::make(const kernel::Module& module, const task::Task& task,
                          const SweepTools& tools, const Targets& targets, size_t cells,
                          uint64_t seed) {
  Sweep sweep;
  Random random(seed);
  const auto cases = KW_TRY(Shapes(task, random).make(targets));
  if (cases.empty()) return input_error("{}: no shape is small enough for a sweep", task.name);
  tools.compiler->use(Version::Original, nullptr);
  gate::Programs programs(module, *tools.compiler, *tools.device, tools.fixed, 60);
  const auto matching = KW_TRY(shapes::match_tensors(module, task, cases.front()->graph));
  const gate::CellRunner runs = runner(programs, matching, task);
  Inputs inputs(task, targets, seed + 1);
  for (size_t i = 0; i < cells; ++i) {
    SweepCell cell;
    cell.shape = cases[i % cases.size()];
    auto drawn = inputs.draw(*cell.shape);
    if (!drawn) continue;  // no legal value at this shape
    cell.inputs = std::move(drawn).value();
    gate::Judged judged = KW_TRY(runs.run(*cell.shape, cell.inputs, {}));
    if (judged.result != gate::CellResult::Right) continue;  // outside the module's domain
    cell.outputs = std::move(judged.outputs);
    sweep.cells_.push_back(std::move(cell));
  }
  if (sweep.cells_.size() < kFewCells)
    return input_error("{}: only {} cells can be swept", task.name, sweep.cells_.size());
  return sweep;
}

Result<std::vector<Witness>> Sweep::differing(const kernel::Module& module, const task::Task& task,
                                              const SweepTools& tools, size_t most) const {
  std::vector<Witness> found;
  gate::Programs programs(module, *tools.compiler, *tools.device, tools.fixed, 60);
  const auto matching = KW_TRY(shapes::match_tensors(module, task, cells_.front().shape->graph));
  const gate::CellRunner runs = runner(programs, matching, task);
  for (const SweepCell& cell : cells_) {
    gate::Judged judged = KW_TRY(runs.run(*cell.shape, cell.inputs, {}));
    Witness witness{&cell, "", {}};
    if (judged.result != gate::CellResult::Right)
      witness.failure = judged.reason.empty() ? "it does not serve this shape" : judged.reason;
    else if (same_outputs(*cell.shape, judged.outputs, cell.outputs))
      continue;
    witness.outputs = std::move(judged.outputs);
    found.push_back(std::move(witness));
    if (found.size() >= most) break;
  }
  return found;
}

}  // namespace kw::mutation
