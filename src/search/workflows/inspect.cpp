#include "workflows/inspect.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "core/text.h"
#include "os/files.h"
#include "store/find.h"
#include "store/run.h"

namespace kw::workflows {

namespace {

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

// Passed and fastest first, measured before estimated, the rest in the order of adding.
auto rank(const store::CandidateRow& row) {
  const double never = 1e300;
  return std::tuple(row.verdict != "passed", row.microseconds.value_or(never),
                    row.estimate_us.value_or(never), row.number);
}

Json candidate_json(const store::CandidateRow& row) {
  Json tunes = Json::object();
  for (const auto& [name, value] : row.tunes) tunes.set(name, value);
  Json json = Json::object();
  json.set("id", row.id).set("number", row.number).set("proposer", row.proposer);
  json.set("origin", row.origin).set("tunes", std::move(tunes));
  json.set("verdict", row.verdict.empty() ? Json() : Json(row.verdict));
  json.set("stage", row.stage).set("reason", row.reason).set("when", row.when);
  return json.set("microseconds", or_null(row.microseconds))
      .set("estimate_us", or_null(row.estimate_us));
}

int64_t sessions_in(const std::vector<record::Event>& events) {
  return std::count_if(events.begin(), events.end(),
                       [](const record::Event& event) { return event.kind == "opened"; });
}

}  // namespace

Result<RunView> inspect_run(const std::string& root, const std::string& name) {
  const std::string folder = KW_TRY(store::find_run(root, name));
  const store::Run run = KW_TRY(store::Run::open(folder, store::Access::Read));
  store::RunSummary summary = store::summarize(folder);
  RunView view;
  view.run = std::move(summary.run);
  view.run.status = store::run_status(folder);
  view.candidates = std::move(summary.candidates);
  std::sort(view.candidates.begin(), view.candidates.end(),
            [](const auto& a, const auto& b) { return rank(a) < rank(b); });
  view.events = run.events();
  view.sessions = sessions_in(view.events);
  view.crashes = run.crashes();
  view.damage = run.damage();
  if (const Result<store::RunInputs> inputs = run.inputs()) view.prompt = inputs->prompt;
  const std::string kernel = folder + "/final/kernel.cu";
  if (os::exists(kernel)) view.kernel_path = kernel;
  view.report = run.report();
  return view;
}

Result<CandidateView> inspect_candidate(const std::string& root, const std::string& name,
                                        const std::string& id) {
  const std::string folder = KW_TRY(store::find_run(root, name));
  const store::Run run = KW_TRY(store::Run::open(folder, store::Access::Read));
  std::vector<std::string> all, meant;
  for (const record::Candidate& one : run.candidates()) {
    all.push_back(one.id);
    if (one.id.starts_with(id)) meant.push_back(one.id);
  }
  if (meant.empty()) {
    return input_error(
        fmt::format("{} has no candidate '{}'{}", run.id(), id, did_you_mean(id, all)));
  }
  if (meant.size() > 1) {
    return input_error(
        fmt::format("'{}' could be {} candidates: {} …", id, meant.size(), meant[0]));
  }
  CandidateView view;
  view.candidate = KW_TRY(run.candidate(meant[0]));
  view.compile_log = run.compile_log(meant[0]);
  view.verdict = run.judgement(meant[0]);
  view.timing = run.timing(meant[0]);
  view.profile = run.profile(meant[0]);
  return view;
}

Json to_json(const store::RunRow& run) {
  Json json = Json::object();
  json.set("id", run.id).set("folder", run.folder).set("name", run.name);
  json.set("created", run.created).set("status", run.status).set("proposer", run.proposer);
  json.set("target", run.target).set("reason", run.reason).set("candidates", run.candidates);
  json.set("judged", run.judged).set("passed", run.passed).set("seconds", run.seconds);
  json.set("best_us", or_null(run.best_us)).set("estimate_us", or_null(run.estimate_us));
  return json.set("speedup", or_null(run.speedup)).set("bytes", run.bytes);
}

Json to_json(const RunView& view) {
  Json candidates = Json::array(), damage = Json::array(), events = Json::array();
  for (const store::CandidateRow& row : view.candidates) candidates.push(candidate_json(row));
  for (const std::string& what : view.damage) damage.push(what);
  for (const record::Event& event : view.events) events.push(to_json(event));
  Json json = Json::object();
  json.set("run", to_json(view.run)).set("prompt", view.prompt);
  json.set("sessions", view.sessions).set("crashes", view.crashes);
  json.set("damage", std::move(damage));
  json.set("kernel", view.kernel_path.empty() ? Json() : Json(view.kernel_path));
  json.set("candidates", std::move(candidates)).set("report", view.report);
  return json.set("events", std::move(events));
}

Json to_json(const CandidateView& view) {
  Json json = record::to_json(view.candidate);
  json.set("text", view.candidate.text).set("compile_log", view.compile_log);
  json.set("verdict", view.verdict).set("timing", view.timing);
  return json.set("profile", view.profile);
}

}  // namespace kw::workflows
