// The state of a run must survive in a file that other programs read and that a later version can
// refuse. So each member has a key of its own, times of the best kernel are also in milliseconds,
// and `schema_version` comes first. Reading checks what steps rely on: the phase must fit the
// iteration and the champion. Lists of results stay JSON, because only documents use them. Keys
// that are the names of members were the alternative; then renaming a member would break stored
// runs. The cost: a list of keys beside the struct.
#include "optimize/optimize_state.h"

#include <algorithm>
#include <array>

#include "core/contains.h"
#include "core/json_reader.h"
#include "core/json_writer.h"

namespace kw::optimize {
namespace {

constexpr std::array kPhases = {"ready",   "opened", "raced",    "ablated",
                                "checked", "closed", "finalized"};

/// The keys of the lists of results.
constexpr std::array kLists = {"selected_methods",    "effective_methods",
                               "ineffective_methods", "implementation_failed_methods",
                               "unverified_methods",  "history",
                               "roofline_history",    "frontier"};

Status check_phase(const State& state) {
  const bool between =
      state.phase == Phase::Raced || state.phase == Phase::Ablated || state.phase == Phase::Checked;
  if (state.iter < 0 || state.retries < 0 || state.iter > 100000)
    return input_error("iter and retries must be whole numbers");
  if ((state.phase == Phase::Ready) != (state.iter == 0) && state.phase != Phase::Finalized)
    return input_error("phase '{}' cannot be at iteration {}", phase_name(state.phase), state.iter);
  if (between != state.champion.has_value())
    return input_error("phase '{}' {} a champion", phase_name(state.phase),
                       between ? "needs" : "cannot have");
  return Done{};
}

}  // namespace

const char* phase_name(Phase phase) { return kPhases[static_cast<size_t>(phase)]; }

double State::threshold_pct() const {
  double least = settings.minimum_pct.value_or(kLeastEffectPct);
  if (!has_clock) return std::max(least, kEstimateEffectPct);
  return noise ? std::max(least, noise->mde_pct) : least;
}

std::optional<double> State::speedup() const {
  if (!baseline.us || !best.us || *best.us <= 0) return std::nullopt;
  return *baseline.us / *best.us;
}

void fields(auto& v, Noise& n) {
  v("noise_pct", n.noise_pct)("mde_pct", n.mde_pct)("pairs", n.pairs);
}

void fields(auto& v, Kept& k) {
  v("file", k.file)("roofline", k.roofline)("metrics", k.metrics)("ncu_report", k.ncu_report);
  v("us", k.us)("measured", k.measured)("iter", k.iter)("methods", k.methods);
}

void fields(auto& v, BestKernel& b) {
  v("branch", b.branch)("us", b.us)("measured", b.measured)("ratio", b.ratio);
}

void fields(auto& v, Ban& b) {
  v("method", b.method)("context", b.context)("iter", b.iter)("why", b.why);
}

void fields(auto& v, State& s) {
  v("schema_version", computed(kStateVersion))("phase", s.phase, kPhases, required);
  v("iter", s.iter, required)("retries", s.retries, required)("run_dir", s.run_dir);
  v("created_at", s.created_at)("baseline_file", computed(s.baseline.file));
  v("baseline_file_original", s.settings.baseline)("ref_file", s.settings.reference);
  v("dims", s.settings.dims)("best_file", computed(s.best.file));
  v("best_metric_ms", computed(ms_of(s.best.us)));
  v("best_metric_is_measured", computed(s.best.measured));
  v("best_ncu_rep", computed(s.best.ncu_report))("speedup", computed(s.speedup()));
  v("headline", s.headline)("iterations_total", s.settings.iterations);
  v("ncu_num", s.settings.ncu_num)("branches", s.settings.branches);
  v("noise_threshold_pct", computed(s.threshold_pct()))("minimum_pct", s.settings.minimum_pct);
  v("noise", s.noise)("proposer", s.settings.proposer)("machine", s.settings.machine);
  v("task", s.task)("target", s.target)("measures", s.has_clock)("forced", s.forced);
  v.group("frozen", [&](auto& g) {
    g("task", s.task_hash)("baseline", s.baseline_hash)("reference", s.reference_hash);
  });
  v("baseline", s.baseline)("best", s.best)("champion", s.champion)("stamps", s.stamps);
  v("overridden", s.overridden)("bans", s.bans);
  Json* const lists[] = {&s.selected,   &s.effective, &s.ineffective,      &s.implementation_failed,
                         &s.unverified, &s.history,   &s.roofline_history, &s.frontier};
  for (size_t i = 0; i < kLists.size(); ++i) v(kLists[i], *lists[i]);
  v("env", s.env)("revision", s.revision);
}

std::vector<std::string> strings_of(const Json& json) {
  return value_of<std::vector<std::string>>(json);
}
std::optional<double> ms_of(const std::optional<double>& us) {
  return us ? std::optional(*us / 1000) : std::nullopt;
}

Json to_json(const State& state) { return record_json(state); }

Result<State> state_from_json(const Json& json) {
  if (!json.is_object() || !json.contains("schema_version"))
    return input_error("it is not the state of an optimisation run of kernelwright");
  const int64_t version = json["schema_version"].as_int(-1);
  if (version != kStateVersion)
    return input_error(
        "it is of version {} and this kernelwright writes version {}: continue with the "
        "kernelwright that made it, or set up a new run from {}",
        version, kStateVersion, json["best_file"].as_string());
  if (!contains(kPhases, json["phase"].as_string()))
    return input_error("there is no phase '{}'", json["phase"].as_string());
  for (const char* key : kLists) {
    if (!json[key].is_array()) return input_error("it has no list '{}'", key);
  }
  State state = KW_TRY(check_record<State>(json));
  KW_TRY(check_phase(state));
  return state;
}

}  // namespace kw::optimize
