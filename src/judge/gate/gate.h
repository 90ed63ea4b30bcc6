// The gate: one candidate through every stage, in the order of docs/verify.md, to one verdict. A
// failing candidate is a verdict; Errors are the machine's or the task's.
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

/// A device with what is tried on it. The pool's shapes must suit it.
struct GateDevice {
  ports::Device* device = nullptr;
  kernel::Bindings fixed;  // target, tunables, the device's numbers
  Pool* pool = nullptr;
};

/// How a person runs one cell again.
struct Repro {
  std::string module_path, reference_path;
  std::vector<std::string> options;  // what else must be said: "--function", "softmax"

  std::string line(const task::Dims& dims, const std::string& family, uint64_t seed,
                   bool is_virtual) const;
  /// Where no cell is to blame.
  std::string line() const;
};

/// Evidence in place of the virtual GPU's, where that does not know an instruction: runs the
/// candidate, bound like this, under other checkers. "" when they are content, else what they
/// found; an Error when they could not look.
using OtherCheckers = std::function<Result<std::string>(const kernel::Bindings& bindings)>;

struct GateRequest {
  ports::Compiler* compiler = nullptr;
  GateDevice virtual_gpu;
  std::optional<GateDevice> gpu;  // where numbers are judged when there is one
  Repro repro;
  Entropy entropy;
  OtherCheckers other_checkers;  // may be empty
  double timeout_seconds = 60;   // of each compile and each run
  int threads = 0;
  std::function<void(const std::string&)> progress;  // may be empty
  std::function<bool()> interrupted;                 // may be empty
};

/// What one stage did, for --explain.
struct StageReport {
  record::Stage stage = record::Stage::Static;
  std::string outcome;             // "ok", "rejected", "unknown", "skipped"
  std::vector<std::string> lines;  // in order
  double seconds = 0;
};

struct CellReport {
  record::Stage stage = record::Stage::Numerics;
  record::Cell cell;
  std::string why;  // the shape is looked at
  bool right = false;
  record::ErrorSummary summary;
  double seconds = 0;  // on the device
};

struct GateReport {
  record::Verdict verdict;
  std::string device;  // where numbers were judged
  std::string compiler;
  bool replay_seeded = false;
  std::vector<StageReport> stages;
  std::vector<CellReport> cells;
  std::vector<std::string> skipped;       // shapes that were not run, and why
  std::vector<std::string> lint;          // of the task
  std::vector<record::Finding> warnings;  // that alone reject nothing
  std::optional<ports::CompileFailed> compile_failed;
  double seconds = 0;          // of the gate without preparation
  double prepare_seconds = 0;  // inputs and truths
};

Result<GateReport> judge(const kernel::Module& module, const GateRequest& request);

}  // namespace kw::gate
