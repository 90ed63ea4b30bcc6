// Where an optimisation run stands: what was asked, the phase, the best kernel so far, what became
// of each method. Plain values and their JSON; folder.h keeps them on disk, phase.h says what may
// come next.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "optimize/workshop.h"

namespace kw::optimize {

inline constexpr int kStateVersion = 1;
inline constexpr int kMostRetries = 3;
/// Differences below this never count, however quiet the machine is.
inline constexpr double kLeastEffectPct = 0.5;
/// What a difference of estimates must exceed to count as one.
inline constexpr double kEstimateEffectPct = 2;

/// Ready -> Opened -> Raced -> Ablated -> Checked -> Closed -> Opened … -> Finalized.
enum class Phase : uint8_t { Ready, Opened, Raced, Ablated, Checked, Closed, Finalized };
const char* phase_name(Phase phase);

/// What setup was asked for; never changes but for the number of iterations.
struct Settings {
  std::string baseline;                 // path as given
  std::string reference;                // path as given
  std::map<std::string, int64_t> dims;  // to be fast at
  int iterations = 3, branches = 4, ncu_num = 5;
  std::optional<double> minimum_pct;  // least effect that counts; nothing: what the clock can see
  std::string proposer = "agent";
  Json machine;  // how the workshop is opened again; not read here
};

/// A kernel of the run with the evidence about it; names are relative to the run folder.
struct Kept {
  std::string file;  // "baseline/kernel.cu"
  std::string roofline, metrics, ncu_report;
  std::optional<double> us;
  bool measured = false;
  int iter = 0;                      // 0: the baseline
  std::vector<std::string> methods;  // it has
};

/// What the race of the open iteration chose.
struct Champion {
  std::string branch;  // "b2"
  std::optional<double> us;
  bool measured = false;
  std::optional<Ratio> ratio;  // parent over champion
};

/// A method that is not tried again in a situation.
struct Ban {
  std::string method, context, why;
  int iter = 0;
};

struct State {
  Settings settings;
  std::string run_dir, created_at;
  std::string task, task_hash, target;
  bool measures = false;
  std::string baseline_hash, reference_hash;  // of the copy; of the file, "" for a folder
  Phase phase = Phase::Ready;
  int iter = 0;  // the last that was opened
  int retries = 0;
  bool forced = false;  // the open iteration was opened although nothing was left to win
  std::optional<Noise> noise;
  Kept baseline, best;
  std::optional<Ratio> headline;              // baseline over best, raced together at the end
  std::optional<Champion> champion;           // from Raced to Checked
  std::map<std::string, std::string> stamps;  // name -> hash of what later steps rely on
  std::vector<std::string> overridden;        // refusals of the gate that were overridden
  std::vector<Ban> bans;
  Json env = Json::object();
  /// Lists of the entries that docs/optimize.md describes.
  Json selected = Json::array(), effective = Json::array(), ineffective = Json::array(),
       implementation_failed = Json::array(), unverified = Json::array(), history = Json::array(),
       roofline_history = Json::array(), frontier = Json::array();
  int64_t revision = 0;  // of the journal

  /// Least difference in percent that counts: the user's, or what the clock can tell apart.
  double threshold_pct() const;
  /// Speedup of the best over the baseline, where both have a time.
  std::optional<double> speedup() const;
};

Json to_json(const State& state);
/// Input Error: of another version, or not a state at all; says what to do.
Result<State> state_from_json(const Json& json);

/// Of the parts; shared with the documents of single steps.
Json to_json(const Ratio& ratio);
std::optional<Ratio> ratio_from_json(const Json& json);
Json strings_json(const std::vector<std::string>& texts);
std::vector<std::string> strings_of(const Json& json);
Json optional_ms(const std::optional<double>& us);

}  // namespace kw::optimize
