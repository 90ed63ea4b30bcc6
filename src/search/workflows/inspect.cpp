// A run is shown with all that is wrong with it, so everything in it is read and checked once. For
// thousands of candidates that takes seconds. So a view of a large run is kept until the run
// changes (kept_view.h). Checking less of every run was the alternative; most runs are small, and
// there a forged verdict should be named at the first look.
#include "workflows/inspect.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "core/json_writer.h"
#include "core/text.h"
#include "os/files.h"
#include "stages/model_journal.h"
#include "store/find.h"
#include "store/run.h"
#include "workflows/kept_view.h"
#include "workflows/run_damage.h"

namespace kw::workflows {

namespace {

// Passed and fastest first, measured before estimated, the rest in the order of adding.
auto rank(const store::CandidateRow& row) {
  const double never = 1e300;
  return std::tuple(row.verdict != "passed", row.microseconds.value_or(never),
                    row.estimate_us.value_or(never), row.number);
}

Json candidate_json(const store::CandidateRow& r) {
  JsonWriter v;
  v("id", r.id)("number", r.number)("proposer", r.proposer)("origin", r.origin)("tunes", r.tunes);
  v("verdict", r.verdict, Zero::Null)("stage", r.stage)("reason", r.reason)("when", r.when);
  v("microseconds", r.microseconds)("estimate_us", r.estimate_us);
  v("judge", r.verdict.empty() ? Json() : Json(r.judge))("old_verdict", r.has_old_verdict());
  return v.take();
}

void add_unsettled(const store::Run& run, RunView& view) {
  double usd = 0;
  int64_t tokens = 0;
  for (const llm::LedgerEntry& row : stages::past_calls(run)) {
    if (row.outcome != llm::kUnsettled) continue;
    ++view.unsettled_calls;
    usd += row.charge.at_most.value_or(0);
    tokens += row.charge.tokens;
  }
  view.unsettled_cost = fmt::format("up to {} tokens", tokens);
  if (usd > 0) view.unsettled_cost += ", up to " + llm::usd_text(usd);
}

int64_t sessions_in(const std::vector<record::Event>& events) {
  return std::count_if(events.begin(), events.end(),
                       [](const record::Event& event) { return event.kind == "opened"; });
}

}  // namespace

namespace {

Result<RunView> view_of(const std::string& folder) {
  const store::Run run = KW_TRY(store::Run::open(folder, store::Access::Read));
  store::RunSummary summary = store::summarize(run);
  RunView view;
  view.run = std::move(summary.run);
  view.run.status = store::run_status(folder);
  view.candidates = std::move(summary.candidates);
  std::sort(view.candidates.begin(), view.candidates.end(),
            [](const auto& a, const auto& b) { return rank(a) < rank(b); });
  for (const store::CandidateRow& row : view.candidates) {
    if (!row.verdict.empty() && row.verdict != "passed")
      ++view.stopped[row.stage.empty() ? row.verdict : row.stage];
  }
  view.events = run.events();
  view.sessions = sessions_in(view.events);
  view.crashes = run.crashes();
  view.damage = damage_of(run);
  view.foreign = run.foreign();
  if (view.run.status != "running") add_unsettled(run, view);
  if (const Result<store::RunInputs> inputs = run.inputs()) view.prompt = inputs->prompt;
  const std::string kernel = folder + "/final/kernel.cu";
  if (os::exists(kernel)) view.kernel_path = kernel;
  view.report = run.report();
  return view;
}

}  // namespace

Result<RunView> inspect_run(const std::string& root, const std::string& name) {
  return view_of(KW_TRY(store::find_run(root, name)));
}

Result<RunView> glance_at_run(const std::string& root, const std::string& name, size_t most) {
  const std::string folder = KW_TRY(store::find_run(root, name));
  if (std::optional<RunView> kept = kept_view(folder, most)) {
    kept->run.status = store::run_status(folder);
    return std::move(*kept);
  }
  const std::string mark = store::change_mark(folder);
  RunView view = KW_TRY(view_of(folder));
  keep_view(view, mark);
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
    return input_error("{} has no candidate '{}'{}", run.id(), id, did_you_mean(id, all));
  }
  if (meant.size() > 1) {
    return input_error("'{}' matches {} candidates: {} …", id, meant.size(), meant[0]);
  }
  CandidateView view;
  view.candidate = KW_TRY(run.candidate(meant[0]));
  view.compile_log = run.compile_log(meant[0]);
  view.altered = run.is_altered(meant[0]);
  view.verdict = run.judgement(meant[0]);
  view.timing = run.timing(meant[0]);
  view.profile = run.profile(meant[0]);
  return view;
}

Json to_json(const store::RunRow& r) {
  JsonWriter v;
  v("id", r.id)("folder", r.folder)("name", r.name)("created", r.created)("status", r.status);
  v("proposer", r.proposer)("target", r.target)("reason", r.reason)("candidates", r.candidates);
  v("judged", r.judged)("passed", r.passed)("seconds", r.seconds)("best_us", r.best_us);
  v("estimate_us", r.estimate_us)("speedup", r.speedup)("bytes", r.bytes);
  return v.take();
}

Json to_json(const RunView& view) {
  Json candidates = Json::array();
  for (const store::CandidateRow& row : view.candidates) candidates.push(candidate_json(row));
  JsonWriter v;
  v("run", to_json(view.run))("prompt", view.prompt)("sessions", view.sessions);
  v("signature", view.foreign.empty() ? "own" : view.foreign);
  v("unsettled_calls", view.unsettled_calls);
  v("crashes", view.crashes)("damage", view.damage)("kernel", view.kernel_path, Zero::Null);
  v("candidates", candidates)("report", view.report)("events", view.events);
  return v.take();
}

Json to_json(const CandidateView& view) {
  Json json = record::to_json(view.candidate);
  json.set("altered", view.altered);
  json.set("text", view.candidate.text).set("compile_log", view.compile_log);
  json.set("verdict", view.verdict).set("timing", view.timing);
  return json.set("profile", view.profile);
}

}  // namespace kw::workflows
