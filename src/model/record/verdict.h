// The verdict on one candidate. Each is an ordinary outcome that search, store and report share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/json.h"
#include "record/finding.h"

namespace kw::record {

/// The version of the judge's rules, in every verdict. Raise it with every change after which a
/// verdict could be another one: a new check, family, shape or bound. docs/verify.md lists them.
inline constexpr int64_t kJudgeVersion = 7;

/// The stage at which the gate stopped a candidate.
enum class Stage : uint8_t {
  Static,
  Compile,
  VirtualGpu,
  Numerics,
  Hygiene,
  Metamorphic,
  Audit,
  Timing
};
const char* stage_name(Stage stage);

/// One combination of shape, family and seed at which a candidate was judged.
struct Cell {
  std::string shape;       // "B=7 D=64"
  std::string family;      // "offset"
  uint64_t seed = 0;       // shown only when the run is replayable
  bool certified = false;  // inputs drawn from fresh entropy
};

/// The worst element of an output.
struct Worst {
  std::string output;
  std::vector<int64_t> index;
  double got = 0, want = 0, bound = 0;
  double z = 0;     // |got - want| / bound
  double ulps = 0;  // of the output type
  std::string why;  // "" or what z cannot express: "NaN where the truth is finite"
};

/// The error of a candidate against the truth, over one cell or all cells.
struct ErrorSummary {
  double max_z = 0, rms_z = 0;  // worst output, worst cell
  double max_abs = 0, max_rel = 0, max_ulps = 0;
  int64_t elements = 0, discontinuous = 0;
  // Elements that overflow decides; of these, right by another value, and right by inf or NaN.
  int64_t overflowed = 0, overflow_values = 0, overflow_classes = 0;
  std::optional<Worst> worst;
  std::optional<Cell> cell;  // cell of the worst element
};

struct Rejected {
  Stage stage = Stage::Static;
  std::string reason;
  std::optional<Finding> finding;
  std::string repro;  // one command line that reproduces it
};
struct Crashed {
  std::string what;  // fault, hang, lost worker
  std::optional<Cell> cell;
  std::string repro;
};
struct Wrong {
  ErrorSummary summary;
  std::string repro;
  std::string reason;             // the worst element in one sentence
  Stage stage = Stage::Numerics;  // or Metamorphic: a relation of the reference is violated
};
/// Whether a row gives the same bits whatever batch it is in, at whatever place, beside whatever
/// neighbours.
struct BatchInvariance {
  std::optional<bool> holds;      // not set: not applicable or not checked
  std::vector<std::string> dims;  // batch dims of the task that were varied
  int64_t batches = 0;            // other batches that were run
  std::string why;                // where bits differ, or why it was not checked
  int64_t most_rows = 0;          // of the longest batch that was run
  std::vector<int64_t> not_tried = {};  // sizes worth a run that would have taken too long
};
struct Passed {
  ErrorSummary summary;
  int64_t cells = 0;
  std::optional<bool> deterministic;  // not set: not checked
  BatchInvariance batch = {};
  std::string sum_order = {};  // how the terms of its sum are added, seen from outside; "" unknown
  bool complete = false;              // benchmark shapes run uncut, every launch group judged
  bool certified = false;             // complete, and with inputs from fresh entropy
  std::string below = {};             // "below 2,000,000,001 elements": where it is judged; "": all
  std::vector<std::string> incomplete = {};  // what is missing, a sentence each
  /// Set when only launches for at least this many elements were not judged.
  std::optional<int64_t> complete_below = {};

  /// Complete for tensors that 32-bit indices can address, which is what most users run.
  bool complete_in_practice() const {
    return complete || complete_below.value_or(0) >= kLargeElements;
  }
  static constexpr int64_t kLargeElements = 2'000'000'000;
};
struct Unknown {
  std::string missing_evidence;  // an unknown verdict is never a pass
};
using Verdict = std::variant<Rejected, Crashed, Wrong, Passed, Unknown>;

/// "rejected", "crashed", "wrong", "passed" or "unknown".
const char* verdict_name(const Verdict& verdict);
bool passed(const Verdict& verdict);
Json to_json(const Cell& cell);
Json to_json(const Worst& worst);
Json to_json(const ErrorSummary& summary);
Json to_json(const Verdict& verdict);

}  // namespace kw::record
