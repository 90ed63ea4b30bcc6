// Compares a mutant with the kernel it was made of, bit by bit, over many small cells. Shapes and
// inputs are drawn by a generator of its own, so that a family or shape that the gate lacks is not
// lacking here too.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gate/run_cell.h"
#include "mutating_compiler.h"
#include "ports/device.h"
#include "task/task.h"

namespace kw::mutation {

struct SweepCell {
  std::shared_ptr<const shapes::ShapeCase> shape;
  std::vector<tensor::HostTensor> inputs;
  std::vector<tensor::HostTensor> outputs;  // of the original
};

/// A cell at which a mutant differs.
struct Witness {
  const SweepCell* cell = nullptr;
  std::string failure;                      // it did not run to its end: a finding; "" otherwise
  std::vector<tensor::HostTensor> outputs;  // of the mutant
};

/// Numbers and extents that inputs and shapes are aimed at.
struct Targets {
  std::vector<double> numbers;
  std::vector<int64_t> extents;
  double most_work = 4e5;  // lane instructions of one cell
  bool only = false;       // every cell has one of them
};
/// The constants of all code compiled so far.
Targets targets_of(const MutatingCompiler& compiler);
/// The constants of one mutated instruction; every cell has one.
Targets targets_of(const Mutation& mutation);

struct SweepTools {
  MutatingCompiler* compiler = nullptr;
  ports::Device* device = nullptr;
  kernel::Bindings fixed;
};

class Sweep {
 public:
  /// Runs the original at `cells` cells. The module and the task must outlive it. An Error if the
  /// original cannot be run at all.
  static Result<Sweep> make(const kernel::Module& module, const task::Task& task,
                            const SweepTools& tools, const Targets& targets, size_t cells,
                            uint64_t seed);

  const std::vector<SweepCell>& cells() const { return cells_; }
  /// The cells at which the module gives other bits, at most `most`. -0 is 0 unless the output only
  /// moves inputs, and all NaN are one.
  Result<std::vector<Witness>> differing(const kernel::Module& module, const task::Task& task,
                                         const SweepTools& tools, size_t most) const;

 private:
  std::vector<SweepCell> cells_;
};

}  // namespace kw::mutation
