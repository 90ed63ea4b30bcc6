// The stages of the gate as methods of one object that holds their shared state. Internal.
#pragma once

#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gate/batches.h"
#include "gate/gate.h"
#include "gate/metamorphic.h"
#include "gate/run_cell.h"
#include "inputs/immediates.h"
#include "shapes/module_shapes.h"
#include "shapes/plan_view.h"

namespace kw::gate {

/// A verdict ends the gate; not set: the next stage runs.
using Stop = std::optional<record::Verdict>;

/// What the judging device ran so far, and what is missing.
struct Coverage {
  std::vector<int64_t> group_cells;  // by group: right cells
  std::vector<std::optional<task::Dims>> group_shapes;
  /// By launch group and code: the cheapest shape that ran them.
  std::map<std::pair<int, ports::ImageId>, const shapes::ShapeCase*> least;
  /// By code: a shape that ran it, with many elements but quick; code that ran with its own
  /// constants planted among as many.
  std::map<ports::ImageId, const shapes::ShapeCase*> shape_of_code;
  std::set<ports::ImageId> planted;
  std::map<size_t, std::string> group_refused;   // why a shape that selects the group did not run
  std::map<size_t, std::string> group_unserved;  // a shape that selects it but cannot launch it
  std::set<task::Dims> dims;                     // shapes with a right cell
  std::chrono::steady_clock::time_point end;     // of running what the module suggests
  double budget_left = 0;                        // seconds
  double work_rate = 0, truth_rate = 0;  // per second: of the largest cell so far, of all truths
  double rated_work = 0;
  double planted_work = 1e5;  // of a shape with enough elements for all constants of the code
  std::vector<std::string> incomplete;
  std::string below;
  double below_elements = 0;
  double missing_from = INFINITY;  // elements from which something is not judged

  /// So many elements are needed that each constant of the code is planted several times.
  void expect(const inputs::Immediates& code);
  void note_right(const shapes::ShapeCase& shape, const std::string& family, const Judged& judged);
  /// `elements`: the launches that were not judged need at least so many; 0: not known.
  void note_missing(std::string why, double elements = 0);
  /// Says that the candidate is judged below this shape only.
  void limit_to(const std::string& shape, double elements);
  bool out_of_time() const;
  /// The work that the rest of the budget allows, run and truth together.
  double affordable_work() const;
};

/// An Error when the user interrupted the job.
Status check_interrupt(const GateRequest& request);
/// The verdict on a candidate that failed in this cell.
record::Verdict verdict_from(const Judged& judged, const record::Cell& cell, std::string repro,
                             record::Stage stage, bool is_virtual);

/// The first cell of a shape that was judged with more than one element: of the most expensive
/// shape if `largest`, otherwise of a small one, derived if possible.
std::optional<size_t> first_cell(const Pool& pool, const std::vector<CellReport>& judged,
                                 bool largest);

/// Whether inputs, truth and bound of this shape fit the memory that is free.
bool fits_memory(const graph::Graph& graph);
/// For a shape that only this candidate needs: planted spikes, and the constants of its own code,
/// which may be compared with values behind a limit of sizes only. Of what counts bools: almost all
/// set, too.
std::vector<std::string> cover_families(const task::Task& task, const graph::Graph& graph);
/// "1,746,927,616"
std::string count_text(double count);
/// Whether the graph counts how many are true.
bool counts_bools(const graph::Graph& graph);
/// The family of planted spikes, if the task has it.
std::string spikes_or_first(const task::Task& task);

class Gate {
 public:
  Gate(const kernel::Module& module, const GateRequest& request);

  Result<GateReport> run();

 private:
  friend class LargeExtents;
  friend class SuggestedShapes;

  struct Bench {
    const GateDevice* at;
    Programs programs;
  };

  Result<Stop> static_stage();
  Result<Stop> compile_stage();
  Result<Stop> virtual_stage();
  Result<Stop> numerics_stage();
  Result<Stop> hygiene_stage();
  Result<Stop> metamorphic_stage();
  Result<Stop> batch_stage();
  Result<Stop> unknown_instruction_stage();
  record::Verdict conclude() const;

  // Judging what the module itself suggests, and benchmark shapes uncut.
  Result<Stop> cover_module(Bench& bench);
  Result<Stop> plant_constants(Bench& bench, double most_work);
  Result<Stop> run_branches(Bench& bench, const shapes::PlanView& view, double most_work);
  Result<Stop> run_groups(Bench& bench, const shapes::PlanView& view, double most_work);
  Result<Stop> run_benchmarks(Bench& bench);
  Result<Stop> run_whole(Bench& bench, const shapes::ShapeCase& shape);
  Result<Stop> run_extra(Bench& bench, const shapes::ShapeCase& shape, const std::string& family);
  Stop judge_groups(const shapes::PlanView& view);

  // Running cells.
  Result<Stop> run_cells(Bench& bench, record::Stage stage, const std::vector<size_t>& cells);
  Result<Stop> run_cell(Bench& bench, record::Stage stage, size_t cell);
  /// The set of a cell; of kImmediatesFamily: with the constants of this candidate.
  Result<SetPtr> set_of(Bench& bench, size_t cell);
  CellRunner runner(Bench& bench, const ports::RunOptions& options);
  /// Returns the verdict for a failed cell, with a seed that may be published.
  Result<record::Verdict> verdict_of(Bench& bench, size_t cell, const Judged& judged,
                                     const ports::RunOptions& options, record::Stage stage);
  struct PublicSeed {
    uint64_t seed = 0;
    std::string where;  // the element that fails with it, if it is a wrong value
  };
  Result<PublicSeed> public_seed(Bench& bench, size_t cell, const Judged& judged,
                                 const ports::RunOptions& options);
  void note_cell(Bench& bench, record::Stage stage, size_t cell, const Judged& judged);
  Result<bool> serves(Bench& bench, const shapes::ShapeCase& shape);
  Status check_alive(Bench& bench, const Judged& judged);
  /// Runs an already judged cell on the GPU again; the outputs stay on the device.
  struct RerunResult {
    Judged judged;
    bool same_bits = false;  // equal to the run that was judged
  };
  Result<RerunResult> run_again(size_t cell, const ports::RunOptions& options);
  Result<Stop> check_alignment(Bench& bench, size_t cell);
  Result<Stop> check_determinism(size_t cell);
  Result<Stop> check_order(size_t cell);
  Stop note_determinism(const shapes::ShapeCase& shape, bool same);
  Result<Stop> run_relation(Bench& bench, const Relation& relation, size_t cell);

  // Reporting.
  void begin(record::Stage stage, const std::string& progress);
  void say(const std::string& line);
  void end(const std::string& outcome);

  Bench& judge_bench() { return gpu_ ? *gpu_ : virtual_; }
  const task::Task& task() const { return request_.virtual_gpu.pool->task(); }

  const kernel::Module& module_;
  const GateRequest& request_;
  Bench virtual_;
  std::optional<Bench> gpu_;
  shapes::Matching matching_;
  GateReport report_;
  record::ErrorSummary summary_;
  int64_t right_cells_ = 0;
  int64_t telling_cells_ = 0;  // of those: zeros would fail, and there is no lint
  std::string missing_;        // missing evidence; "" when complete
  std::string unknown_instruction_;
  std::optional<bool> deterministic_;
  record::BatchInvariance batch_;
  std::string sum_order_;
  std::set<std::string> told_;                      // messages already reported
  std::map<size_t, std::vector<uint64_t>> hashes_;  // by cell: output hashes of right GPU runs
  std::chrono::steady_clock::time_point stage_start_;
  Coverage covered_;
};

/// Runs what the module itself suggests: every variant of its code, and the limits in each
/// (gate_suggested.cpp).
class SuggestedShapes {
 public:
  SuggestedShapes(Gate& gate, Gate::Bench& bench) : gate_(gate), bench_(bench) {}
  Result<Stop> run(const shapes::PlanView& view);

 private:
  Result<Stop> run_all(const shapes::ModuleShapes& made, double most_work);

  Gate& gate_;
  Gate::Bench& bench_;
  size_t ran_ = 0;
};

/// Runs each dim at extents as large as the time allows, the other dims small (gate_extents.cpp).
class LargeExtents {
 public:
  LargeExtents(Gate& gate, Gate::Bench& bench);
  Result<Stop> run();

 private:
  Result<Stop> grow(const std::string& name, uint64_t seed);

  Gate& gate_;
  Gate::Bench& bench_;
  double seconds_;  // for one shape
  double left_;     // for all
};

}  // namespace kw::gate
