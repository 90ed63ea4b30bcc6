// The gate: sends one candidate through every stage, in the order of docs/verify.md, to one
// verdict. A failing candidate gives a verdict; an Error means a failure of the machine or the
// task.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "gate/pool.h"
#include "kernel/select.h"
#include "ports/compiler.h"
#include "ports/device.h"
#include "record/verdict.h"

namespace kw::gate {

/// A device and the inputs for it. The pool's shapes must suit the device.
struct GateDevice {
  ports::Device* device = nullptr;
  kernel::Bindings fixed;  // target, tunables, limits of the device
  Pool* pool = nullptr;
};

/// Writes the command with which a user runs one cell again.
struct Repro {
  std::string module_path, reference_path;
  std::vector<std::string> options;  // further options: "--function", "softmax"

  std::string line(const task::Dims& dims, const std::string& family, uint64_t seed,
                   bool is_virtual) const;
  /// The command for a failure that belongs to no cell.
  std::string line() const;
};

/// Replaces the virtual GPU when it does not support an instruction. Runs the candidate with these
/// bindings under other checkers. Returns "" when they find nothing, otherwise their finding; an
/// Error when they could not run.
using OtherCheckers = std::function<Result<std::string>(const kernel::Bindings& bindings)>;

struct GateRequest {
  ports::Compiler* compiler = nullptr;
  GateDevice virtual_gpu;
  std::optional<GateDevice> gpu;  // if set, this device judges the values
  Repro repro;
  Entropy entropy;
  OtherCheckers other_checkers;  // may be empty
  double timeout_seconds = 60;   // for each compile and each run
  /// Seconds of the judging device for benchmark shapes uncut and for shapes that the module itself
  /// suggests. 0: only a screening; such a verdict is never complete.
  double budget_seconds = 0;
  std::string only;  // why not everything is judged, such as a shape that the user named; "": all
  int threads = 0;
  std::function<void(const std::string&)> progress;  // may be empty
  std::function<bool()> interrupted;                 // may be empty
};

/// The result of one stage, for --explain.
struct StageReport {
  record::Stage stage = record::Stage::Static;
  std::string outcome;             // "ok", "rejected", "unknown", "skipped"
  std::vector<std::string> lines;  // messages in order
  double seconds = 0;
};

struct CellReport {
  record::Stage stage = record::Stage::Numerics;
  record::Cell cell;
  std::string why;  // why the shape is included
  bool right = false;
  record::ErrorSummary summary;
  double seconds = 0;  // of the run on the device
};

/// Launches under one `when` of the module.
struct GroupReport {
  int line = 0;
  std::string when;
  std::string state;  // "run", "unreachable", "unaffordable"; "not run" of a screening
  std::string why;    // why it did not run
  std::string needs;  // the smallest shape found that selects it: "B=5000 D=1"
  int64_t cells = 0;  // that ran it on the judging device
};

struct GateReport {
  record::Verdict verdict;
  std::string device;  // the device that judged the values
  std::string compiler;
  bool replay_seeded = false;
  std::vector<StageReport> stages;
  std::vector<CellReport> cells;
  std::vector<GroupReport> groups;
  std::vector<std::string> skipped;       // shapes that were not run, with reasons
  std::vector<std::string> lint;          // problems of the task
  std::vector<record::Finding> warnings;  // findings that do not reject a candidate
  std::optional<ports::CompileFailed> compile_failed;
  double seconds = 0;          // time in the gate, without preparation
  double prepare_seconds = 0;  // time for inputs and truths
};

Result<GateReport> judge(const kernel::Module& module, const GateRequest& request);

}  // namespace kw::gate
