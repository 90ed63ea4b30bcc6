// The state of an optimisation run: the request, the phase, the best kernel so far, the results of
// each method. Plain values and their JSON. folder.h stores them; phase.h says which step may
// follow.
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
#include "optimize/optimize_tools.h"

namespace kw::ports {

void fields(auto& v, Ratio& r) {
  v("value", r.value)("low", r.low)("high", r.high)("relation", r.relation);
}

}  // namespace kw::ports

namespace kw::optimize {

inline constexpr int kStateVersion = 1;
inline constexpr int kMostRetries = 3;
/// Smaller differences never count, even with little noise.
inline constexpr double kLeastEffectPct = 0.5;
/// A difference of estimates must exceed this to count.
inline constexpr double kEstimateEffectPct = 2;

/// Ready -> Opened -> Raced -> Ablated -> Checked -> Closed -> Opened … -> Finalized.
enum class Phase : uint8_t { Ready, Opened, Raced, Ablated, Checked, Closed, Finalized };
const char* phase_name(Phase phase);

/// The request of setup. Only the number of iterations may change.
struct Settings {
  std::string baseline;                 // path as given
  std::string reference;                // path as given
  std::map<std::string, int64_t> dims;  // the timed shape
  int iterations = 3, branches = 4, ncu_num = 5;
  std::optional<double> minimum_pct;  // least effect that counts; not set: what the clock detects
  std::string proposer = "agent";
  Json machine;  // how to open the tools again; not read here
};

/// A kernel of the run with its evidence; names are relative to the run folder.
struct Kept {
  std::string file;  // "baseline/kernel.cu"
  std::string roofline, metrics, ncu_report;
  std::optional<double> us;
  bool measured = false;
  int iter = 0;                      // 0: the baseline
  std::vector<std::string> methods;  // that it has
};

/// The choice of the open iteration's race.
struct BestKernel {
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
  bool has_clock = false;
  std::string baseline_hash, reference_hash;  // of the copy; of the file, "" for a folder
  Phase phase = Phase::Ready;
  int iter = 0;  // the last opened one
  int retries = 0;
  bool forced = false;  // the open iteration was opened although near the peak
  std::optional<Noise> noise;
  Kept baseline, best;
  std::optional<Ratio> headline;              // baseline over best, raced together at the end
  std::optional<BestKernel> champion;         // from Raced to Checked
  std::map<std::string, std::string> stamps;  // name -> hash of a file that later steps depend on
  std::vector<std::string> overridden;        // refusals of the gate that the user overrode
  std::vector<Ban> bans;
  Json env = Json::object();
  /// Lists of the entries that docs/optimize.md describes.
  Json selected = Json::array(), effective = Json::array(), ineffective = Json::array(),
       implementation_failed = Json::array(), unverified = Json::array(), history = Json::array(),
       roofline_history = Json::array(), frontier = Json::array();
  int64_t revision = 0;  // of the journal

  /// The least difference in percent that counts: the user's minimum, or more if the clock cannot
  /// detect it.
  double threshold_pct() const;
  /// The speedup of the best over the baseline; not set when a time is missing.
  std::optional<double> speedup() const;
};

Json to_json(const State& state);
/// Input Error: another version, or not a state; it says what to do.
Result<State> state_from_json(const Json& json);

std::vector<std::string> strings_of(const Json& json);
/// Milliseconds, as the documents of steps have them.
std::optional<double> ms_of(const std::optional<double>& us);

}  // namespace kw::optimize
