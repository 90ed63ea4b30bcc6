// What became of one candidate. All are ordinary outcomes that search, store and report share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/json.h"
#include "record/finding.h"

namespace kw::record {

/// Where the gate stopped a candidate.
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

/// One shape x family x seed at which a candidate was judged.
struct Cell {
  std::string shape;       // "B=7 D=64"
  std::string family;      // "offset"
  uint64_t seed = 0;       // shown only when the run is replayable
  bool certified = false;  // drawn from fresh entropy
};

/// The worst element of an output.
struct Worst {
  std::string output;
  std::vector<int64_t> index;
  double got = 0, want = 0, bound = 0;
  double z = 0;     // |got - want| / bound
  double ulps = 0;  // of the output type
  std::string
      why;  // "" or what a z cannot say: "NaN where the truth is finite", "index out of range"
};

/// How far a candidate is from the truth, over one cell or all.
struct ErrorSummary {
  double max_z = 0, rms_z = 0;  // worst output, worst cell
  double max_abs = 0, max_rel = 0, max_ulps = 0;
  int64_t elements = 0, discontinuous = 0, overflowed = 0;
  std::optional<Worst> worst;
  std::optional<Cell> cell;  // of the worst
};

struct Rejected {
  Stage stage = Stage::Static;
  std::string reason;
  std::optional<Finding> finding;
  std::string repro;  // one line that shows it again
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
  Stage stage = Stage::Numerics;  // or Metamorphic: a relation of the reference does not hold
};
struct Passed {
  ErrorSummary summary;
  int64_t cells = 0;
  std::optional<bool> deterministic;  // nothing: not looked at
};
struct Unknown {
  std::string missing_evidence;  // never a pass
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
