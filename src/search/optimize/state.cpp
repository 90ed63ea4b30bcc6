// The state of a run must survive in a file that other programs read and that a later version can
// refuse. So each member is written by name, times of the best kernel also in milliseconds, and
// `schema_version` comes first. Reading checks what steps rely on: the phase must fit the iteration
// and the champion. Lists of results stay JSON, because only documents use them. Generating this
// from the struct was the alternative; then renaming a member would break stored runs. The cost:
// each new member needs a line in both directions.
#include "optimize/state.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace kw::optimize {
namespace {

constexpr std::array kPhases = {"ready",   "opened", "raced",    "ablated",
                                "checked", "closed", "finalized"};

/// The lists of a state and their keys.
struct ListRow {
  const char* key;
  Json State::*list;
};
constexpr ListRow kLists[] = {
    {"selected_methods", &State::selected},
    {"effective_methods", &State::effective},
    {"ineffective_methods", &State::ineffective},
    {"implementation_failed_methods", &State::implementation_failed},
    {"unverified_methods", &State::unverified},
    {"history", &State::history},
    {"roofline_history", &State::roofline_history},
    {"frontier", &State::frontier},
};

Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::optional<double> number_of(const Json& json) {
  if (!json.is_number()) return std::nullopt;
  return json.as_double();
}

Json kept_json(const Kept& kept) {
  return Json::object()
      .set("file", kept.file)
      .set("roofline", kept.roofline)
      .set("metrics", kept.metrics)
      .set("ncu_report", kept.ncu_report)
      .set("us", optional_number(kept.us))
      .set("measured", kept.measured)
      .set("iter", kept.iter)
      .set("methods", strings_json(kept.methods));
}

Kept kept_of(const Json& json) {
  Kept kept;
  kept.file = json["file"].as_string();
  kept.roofline = json["roofline"].as_string();
  kept.metrics = json["metrics"].as_string();
  kept.ncu_report = json["ncu_report"].as_string();
  kept.us = number_of(json["us"]);
  kept.measured = json["measured"].as_bool();
  kept.iter = static_cast<int>(json["iter"].as_int());
  kept.methods = strings_of(json["methods"]);
  return kept;
}

Json champion_json(const std::optional<BestKernel>& champion) {
  if (!champion) return Json();
  return Json::object()
      .set("branch", champion->branch)
      .set("us", optional_number(champion->us))
      .set("measured", champion->measured)
      .set("ratio", champion->ratio ? to_json(*champion->ratio) : Json());
}

std::optional<BestKernel> champion_of(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  BestKernel champion;
  champion.branch = json["branch"].as_string();
  champion.us = number_of(json["us"]);
  champion.measured = json["measured"].as_bool();
  champion.ratio = ratio_from_json(json["ratio"]);
  return champion;
}

Json noise_json(const std::optional<Noise>& noise) {
  if (!noise) return Json();
  return Json::object()
      .set("noise_pct", noise->noise_pct)
      .set("mde_pct", noise->mde_pct)
      .set("pairs", noise->pairs);
}

std::optional<Noise> noise_of(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  return Noise{json["noise_pct"].as_double(), json["mde_pct"].as_double(), json["pairs"].as_int()};
}

Json bans_json(const std::vector<Ban>& bans) {
  Json list = Json::array();
  for (const Ban& ban : bans) {
    list.push(Json::object()
                  .set("method", ban.method)
                  .set("context", ban.context)
                  .set("iter", ban.iter)
                  .set("why", ban.why));
  }
  return list;
}

template <typename Values>
Json map_json(const Values& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json.set(name, value);
  return json;
}

void read_settings(const Json& json, State& state) {
  Settings& settings = state.settings;
  settings.baseline = json["baseline_file_original"].as_string();
  settings.reference = json["ref_file"].as_string();
  for (const auto& [name, value] : json["dims"].members()) settings.dims[name] = value.as_int();
  settings.iterations = static_cast<int>(json["iterations_total"].as_int(3));
  settings.branches = static_cast<int>(json["branches"].as_int(4));
  settings.ncu_num = static_cast<int>(json["ncu_num"].as_int(5));
  settings.minimum_pct = number_of(json["minimum_pct"]);
  settings.proposer = json["proposer"].as_string();
  settings.machine = json["machine"];
}

Status read_phase(const Json& json, State& state) {
  const auto* phase = std::ranges::find(kPhases, json["phase"].as_string());
  if (phase == kPhases.end())
    return input_error(fmt::format("there is no phase '{}'", json["phase"].as_string()));
  state.phase = static_cast<Phase>(phase - kPhases.begin());
  state.iter = static_cast<int>(json["iter"].as_int(-1));
  state.retries = static_cast<int>(json["retries"].as_int(-1));
  const bool between =
      state.phase == Phase::Raced || state.phase == Phase::Ablated || state.phase == Phase::Checked;
  state.champion = champion_of(json["champion"]);
  if (state.iter < 0 || state.retries < 0 || state.iter > 100000)
    return input_error("iter and retries must be whole numbers");
  if ((state.phase == Phase::Ready) != (state.iter == 0) && state.phase != Phase::Finalized)
    return input_error(
        fmt::format("phase '{}' cannot be at iteration {}", phase_name(state.phase), state.iter));
  if (between != state.champion.has_value())
    return input_error(fmt::format("phase '{}' {} a champion", phase_name(state.phase),
                                   between ? "needs" : "cannot have"));
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

Json to_json(const Ratio& ratio) {
  return Json::object()
      .set("value", ratio.value)
      .set("low", ratio.low)
      .set("high", ratio.high)
      .set("relation", ratio.relation);
}

std::optional<Ratio> ratio_from_json(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  return Ratio{json["value"].as_double(1), json["low"].as_double(1), json["high"].as_double(1),
               json["relation"].as_string()};
}

Json strings_json(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

std::vector<std::string> strings_of(const Json& json) {
  std::vector<std::string> texts;
  for (const Json& item : json.items()) texts.push_back(item.as_string());
  return texts;
}

Json optional_ms(const std::optional<double>& us) { return us ? Json(*us / 1000) : Json(); }

Json to_json(const State& s) {
  Json json = Json::object();
  json.set("schema_version", kStateVersion).set("phase", phase_name(s.phase)).set("iter", s.iter);
  json.set("retries", s.retries).set("run_dir", s.run_dir).set("created_at", s.created_at);
  json.set("baseline_file", s.baseline.file).set("baseline_file_original", s.settings.baseline);
  json.set("ref_file", s.settings.reference).set("dims", map_json(s.settings.dims));
  json.set("best_file", s.best.file).set("best_metric_ms", optional_ms(s.best.us));
  json.set("best_metric_is_measured", s.best.measured).set("best_ncu_rep", s.best.ncu_report);
  json.set("speedup", optional_number(s.speedup()));
  json.set("headline", s.headline ? to_json(*s.headline) : Json());
  json.set("iterations_total", s.settings.iterations).set("ncu_num", s.settings.ncu_num);
  json.set("branches", s.settings.branches).set("noise_threshold_pct", s.threshold_pct());
  json.set("minimum_pct", optional_number(s.settings.minimum_pct));
  json.set("noise", noise_json(s.noise)).set("proposer", s.settings.proposer);
  json.set("machine", s.settings.machine).set("task", s.task).set("target", s.target);
  json.set("measures", s.has_clock).set("forced", s.forced);
  json.set("frozen", Json::object()
                         .set("task", s.task_hash)
                         .set("baseline", s.baseline_hash)
                         .set("reference", s.reference_hash));
  json.set("baseline", kept_json(s.baseline)).set("best", kept_json(s.best));
  json.set("champion", champion_json(s.champion)).set("stamps", map_json(s.stamps));
  json.set("overridden", strings_json(s.overridden)).set("bans", bans_json(s.bans));
  for (const ListRow& row : kLists) json.set(row.key, s.*row.list);
  return json.set("env", s.env).set("revision", s.revision);
}

Result<State> state_from_json(const Json& json) {
  if (!json.is_object() || !json.contains("schema_version"))
    return input_error("it is not the state of an optimisation run of kernelwright");
  const int64_t version = json["schema_version"].as_int(-1);
  if (version != kStateVersion)
    return input_error(
        fmt::format("it is of version {} and this kernelwright writes version {}: continue with "
                    "the kernelwright that made it, or set up a new run from {}",
                    version, kStateVersion, json["best_file"].as_string()));
  State state;
  read_settings(json, state);
  KW_TRY(read_phase(json, state));
  state.run_dir = json["run_dir"].as_string();
  state.created_at = json["created_at"].as_string();
  state.task = json["task"].as_string();
  state.target = json["target"].as_string();
  state.has_clock = json["measures"].as_bool();
  state.forced = json["forced"].as_bool();
  state.task_hash = json["frozen"]["task"].as_string();
  state.baseline_hash = json["frozen"]["baseline"].as_string();
  state.reference_hash = json["frozen"]["reference"].as_string();
  state.noise = noise_of(json["noise"]);
  state.headline = ratio_from_json(json["headline"]);
  state.baseline = kept_of(json["baseline"]);
  state.best = kept_of(json["best"]);
  for (const auto& [name, hash] : json["stamps"].members()) state.stamps[name] = hash.as_string();
  state.overridden = strings_of(json["overridden"]);
  for (const Json& ban : json["bans"].items()) {
    state.bans.push_back({ban["method"].as_string(), ban["context"].as_string(),
                          ban["why"].as_string(), static_cast<int>(ban["iter"].as_int())});
  }
  for (const ListRow& row : kLists) {
    if (!json[row.key].is_array()) return input_error(fmt::format("it has no list '{}'", row.key));
    state.*row.list = json[row.key];
  }
  state.env = json["env"];
  state.revision = json["revision"].as_int();
  return state;
}

}  // namespace kw::optimize
