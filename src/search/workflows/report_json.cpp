// report.json is read by tools of other kernel generators and by ours. So the first level and the
// members report, correctness and performance use the names of those generators, and our own
// members are added beside them. Null means "cannot be known here", never "not filled in"; a reader
// can rely on it. Times are called measured only if the clock gave them. The README of the kernel
// is made from the same numbers, so it cannot differ. A format of our own was the alternative;
// existing tools could not read it. The cost: some names do not match our glossary.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "evolve/compare.h"
#include "single_run/json.h"
#include "workflows/steps.h"

namespace kw::workflows {
namespace {

Json or_null(double value) { return value > 0 ? Json(value) : Json(); }

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json tunes_json(const std::map<std::string, int64_t>& tunes) {
  Json json = Json::object();
  for (const auto& [name, value] : tunes) json.set(name, value);
  return json;
}

const record::ErrorSummary* summary_of(const record::Verdict& verdict) {
  if (const auto* passed = std::get_if<record::Passed>(&verdict)) return &passed->summary;
  if (const auto* wrong = std::get_if<record::Wrong>(&verdict)) return &wrong->summary;
  return nullptr;
}

/// One row per shape, with all families and seeds together.
Json shape_results(const gate::GateReport& gate) {
  struct ShapeRow {
    int64_t cells = 0;
    bool passed = true;
    record::ErrorSummary worst;
    std::string why;
  };
  std::vector<std::pair<std::string, ShapeRow>> rows;
  for (const gate::CellReport& cell : gate.cells) {
    auto at = std::ranges::find(rows, cell.cell.shape, &std::pair<std::string, ShapeRow>::first);
    if (at == rows.end()) at = rows.insert(rows.end(), {cell.cell.shape, ShapeRow{}});
    ShapeRow& row = at->second;
    ++row.cells;
    row.why = cell.why;
    row.passed = row.passed && cell.right;
    row.worst.max_abs = std::max(row.worst.max_abs, cell.summary.max_abs);
    row.worst.max_rel = std::max(row.worst.max_rel, cell.summary.max_rel);
    row.worst.max_z = std::max(row.worst.max_z, cell.summary.max_z);
  }
  Json list = Json::array();
  for (const auto& [shape, row] : rows) {
    Json json = Json::object();
    json.set("shape", shape).set("passed", row.passed).set("cells", row.cells);
    json.set("max_abs_err", row.worst.max_abs).set("max_rel_err", row.worst.max_rel);
    list.push(json.set("max_z", row.worst.max_z).set("why", row.why));
  }
  return list;
}

Json failing_inputs(const record::Verdict& verdict) {
  Json list = Json::array();
  if (record::passed(verdict)) return list;
  Json json = record::to_json(verdict);
  if (const record::ErrorSummary* summary = summary_of(verdict);
      summary != nullptr && summary->cell)
    json.set("shape", summary->cell->shape).set("family", summary->cell->family);
  return list.push(std::move(json));
}

bool is_compile(const std::string& mode) { return mode != "eager" && !mode.starts_with("py:"); }

/// The smallest speedup over some baselines: over the fastest of them.
std::optional<double> against_best(const std::vector<BaselineLine>& lines, bool compiled) {
  std::optional<double> least;
  for (const BaselineLine& line : lines) {
    if (line.speedup <= 0 || is_compile(line.name) != compiled) continue;
    if (!least || line.speedup < *least) least = line.speedup;
  }
  return least;
}

int64_t tokens_in(const Json& usage) {
  return usage["input"].as_int() + usage["cache_read"].as_int() + usage["cache_write"].as_int();
}

Json correctness_json(const Session& session) {
  const verification::VerifyReport* verified = nullptr;
  if (session.judge && session.judge->certificate())
    verified = &session.judge->certificate()->bench.gate;
  else if (session.judge && session.judge->last_refusal())
    verified = &*session.judge->last_refusal();
  if (verified == nullptr) return Json();
  const gate::GateReport& gate = verified->gate;
  const record::ErrorSummary* summary = summary_of(gate.verdict);
  Json shapes = Json::array();
  Json results = shape_results(gate);
  for (const Json& row : results.items()) shapes.push(row["shape"]);
  Json json = Json::object();
  json.set("passed", record::passed(gate.verdict));
  json.set("max_abs_err", summary != nullptr ? Json(summary->max_abs) : Json());
  json.set("max_rel_err", summary != nullptr ? Json(summary->max_rel) : Json());
  json.set("shapes_tested", std::move(shapes)).set("shape_results", std::move(results));
  json.set("failing_inputs", failing_inputs(gate.verdict));
  json.set("max_z", summary != nullptr ? Json(summary->max_z) : Json());
  json.set("rms_z", summary != nullptr ? Json(summary->rms_z) : Json());
  json.set("verdict", record::verdict_name(gate.verdict)).set("device", gate.device);
  json.set("certified", session.report.certified).set("replay_seeded", gate.replay_seeded);
  json.set("skipped", single_run::texts(gate.skipped)).set("lint", single_run::texts(gate.lint));
  json.set("cross_check", verified->cross_check ? to_json(*verified->cross_check) : Json());
  return json;
}

// The ranked time of the winner at each shape.
Json ranking_json(const Session& session, const std::string& id) {
  Json shapes = Json::array();
  for (const judge::ShapeTime& one : session.judge->shape_times(id)) {
    Json row = Json::object();
    row.set("dims", one.dims).set("time_us", one.measured ? Json(one.us) : Json());
    row.set("estimate_us", one.measured ? Json() : or_null(one.us));
    row.set("floor_us", or_null(one.floor_us));
    shapes.push(row.set("problem", text_or_null(one.problem)));
  }
  const std::string said = priority(session);
  Json json = Json::object();
  json.set("priority", text_or_null(said)).set("by", session.judge->ranked_by());
  return json.set("floor_us", or_null(session.judge->rank_floor_us()))
      .set("shapes", std::move(shapes));
}

void add_resources(const judge::Certificate& certificate, Json& json) {
  Json occupancy, registers, spills;
  if (certificate.occupancy) occupancy = *certificate.occupancy;
  for (const ports::KernelResources& kernel : certificate.resources) {
    if (kernel.registers >= 0) registers = std::max<int64_t>(registers.as_int(), kernel.registers);
    if (kernel.spill_store_bytes >= 0)
      spills = spills.as_int() + kernel.spill_store_bytes +
               std::max<int64_t>(kernel.spill_load_bytes, 0);
  }
  json.set("occupancy", occupancy).set("regs_per_thread", registers).set("spill_bytes", spills);
}

Json baselines_json(const std::vector<BaselineLine>& lines) {
  Json baselines = Json::array();
  for (const BaselineLine& line : lines) {
    Json row = Json::object();
    row.set("name", line.name).set("us", or_null(line.us)).set("speedup", or_null(line.speedup));
    row.set("speedup_low", or_null(line.low)).set("speedup_high", or_null(line.high));
    row.set("relation", text_or_null(line.relation));
    baselines.push(row.set("problem", text_or_null(line.problem)));
  }
  return baselines;
}

Json performance_json(const Session& session) {
  const SynthesisReport& report = session.report;
  if (!report.passed) return Json();
  const judge::Certificate& certificate = *session.judge->certificate();
  const clock::Work& work = session.judge->work();
  Json json = Json::object();
  json.set("speedup_vs_reference", number_or_null(against_best(report.baselines, false)));
  json.set("speedup_vs_torch_compile", number_or_null(against_best(report.baselines, true)));
  const bool timed = report.measured && report.us > 0;
  json.set("achieved_tflops", timed ? Json(work.flops / report.us * 1e-6) : Json());
  json.set("achieved_gbps", timed ? Json(work.bytes() / report.us * 1e-3) : Json());
  add_resources(certificate, json);
  json.set("below_target", report.below_target ? Json(*report.below_target) : Json());
  json.set("notes", single_run::texts(report.notes))
      .set("warnings", single_run::texts(report.warnings));
  json.set("time_us", timed ? Json(report.us) : Json());
  json.set("estimate_us", timed ? Json() : or_null(report.us));
  json.set("floor_us", or_null(report.floor_us)).set("of_floor", or_null(report.of_floor));
  json.set("floor", to_json(session.judge->floor())).set("floor_of", session.calibration.gpu);
  json.set("dims", report.dims).set("perf_target", session.request.perf_target);
  json.set("ranking", ranking_json(session, certificate.id));
  json.set("speedup_vs_best", number_or_null(report.speedup));
  json.set("relation_to_best", text_or_null(report.relation));
  json.set("baselines", baselines_json(report.baselines));
  json.set("cost_model", certificate.cost ? to_json(*certificate.cost) : Json());
  json.set("bench", certificate.bench.candidate.measurement ? to_json(certificate.bench) : Json());
  return json;
}

Json prompt_json(const Session& session) {
  Json phrases = Json::array();
  for (const reference::Phrase& phrase : session.prompt.phrases) {
    Json row = Json::object();
    row.set("kind", reference::phrase_kind_name(phrase.kind)).set("text", phrase.text);
    phrases.push(row.set("value", phrase.value).set("effect", phrase.effect));
  }
  Json json = Json::object();
  return json.set("understood", std::move(phrases))
      .set("unused", single_run::texts(session.prompt.unused));
}

Json candidates_json(const Session& session) {
  Json list = Json::array();
  const auto push = [&](const halving::Entry& entry) {
    Json row = Json::object();
    row.set("id", entry.candidate.id).set("design", entry.candidate.origin);
    if (!entry.candidate.model.empty()) row.set("model", entry.candidate.model);
    row.set("tunes", tunes_json(entry.candidate.tunes))
        .set("estimate_us", or_null(entry.estimate_us));
    row.set("estimate_is_lower_limit", entry.is_lower_bound);
    row.set("measured_us", or_null(entry.measured_us())).set("certified", entry.certified);
    list.push(row.set("refused", entry.alive() ? Json() : Json(entry.outcome.refused)));
  };
  for (const halving::Entry* entry : session.archive.ranked()) push(*entry);
  for (const halving::Entry& entry : session.archive.entries()) {
    if (!entry.alive()) push(entry);
  }
  return list;
}

/// The sum of one stage's calls. A row's label starts with the stage's name.
struct StageUse {
  std::vector<std::string> models, providers, degraded;
  llm::Usage usage;
  double seconds = 0;
};

void add_new(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

StageUse use_of(const std::vector<llm::LedgerEntry>& rows, const std::string& stage) {
  StageUse use;
  for (const llm::LedgerEntry& row : rows) {
    if (!row.label.starts_with(stage + " ")) continue;
    add_new(use.models, row.provider + ":" + row.model);
    add_new(use.providers, row.provider);
    for (const std::string& what : row.degraded) add_new(use.degraded, what);
    use.usage.input += row.usage.input + row.usage.cache_read + row.usage.cache_write;
    use.usage.output += row.usage.output;
    use.usage.cache_read += row.usage.cache_read;
    use.seconds += row.latency_seconds;
  }
  return use;
}

Json trace_json(const Session& session, const StageTrace& trace) {
  StageUse use;
  size_t attempts = trace.attempts;
  if (session.models) {
    use = use_of(session.models->session->client().ledger().entries(), trace.name);
    const auto tried =
        std::ranges::count(session.models->attempts, trace.name, &stages::Attempt::stage);
    attempts = std::max({attempts, static_cast<size_t>(tried), size_t{1}});
  }
  Json row = Json::object();
  row.set("stage_name", trace.name).set("attempts", static_cast<int64_t>(attempts));
  row.set("succeeded", trace.succeeded);
  row.set("model_used", use.models.empty() ? "none" : join(use.models, ","));
  row.set("tokens_in", use.usage.input).set("tokens_out", use.usage.output);
  row.set("cache_read_tokens", use.usage.cache_read);
  row.set("latency_seconds", use.seconds > 0 ? use.seconds : trace.seconds);
  if (!session.models) return row;
  row.set("provider", text_or_null(join(use.providers, ",")));
  return row.set("degraded", single_run::texts(use.degraded)).set("wall_seconds", trace.seconds);
}

Json models_json(const Session& session) {
  if (!session.models) return session.past_models;
  const ModelWork& work = *session.models;
  Json json = Json::object(), by_stage = Json::object(), budgets = Json::object();
  const stages::ModelPlan& plan = work.session->plan();
  for (const stages::Stage stage : stages::kAllStages) {
    by_stage.set(stages::stage_name(stage), plan.model(stage).text());
    budgets.set(stages::stage_name(stage), plan.budget(stage));
  }
  json.set("stage_models", std::move(by_stage)).set("retry_budgets", std::move(budgets));
  json.set("escalate", plan.escalate).set("escalation_model", plan.escalation.text());
  json.set("escalation_budgets", Json::object()
                                     .set("codegen", plan.escalated_codegen)
                                     .set("performance", plan.escalated_performance));
  json.set("budget_usd", session.request.models.budget_usd.value_or(stages::kDefaultBudget));
  json.set("transcripts", session.request.models.transcripts);
  Json attempts = Json::array();
  for (const stages::Attempt& attempt : work.attempts) attempts.push(stages::to_json(attempt));
  json.set("attempts", std::move(attempts));
  json.set("not_asked", text_or_null(work.why_no_talk));
  json.set("provider_failure", work.provider ? Json(work.provider->error().message) : Json());
  Json polish = Json::object();
  polish.set("accepted", work.polished);
  polish.set("reason", text_or_null(work.why_not_polished));
  json.set("polish", std::move(polish));
  if (work.reviewed_judge) json.set("readers", review::scoreboard_of(*session.run).json());
  return json.set("ledger", work.session->client().ledger().json());
}

/// The traces with the numbers of attempts, which are known only at the end.
std::vector<StageTrace> completed_traces(const Session& session) {
  std::vector<StageTrace> traces = session.traces;
  if (!session.outcome) return traces;
  const auto find = [&traces](const char* name) {
    return std::ranges::find(traces, name, &StageTrace::name);
  };
  const auto searched = find(session.request.evolve ? "evolve" : "search");
  searched->attempts = session.report.tried;
  if (const auto certify = find("certify"); certify != traces.end())
    certify->attempts = session.certifications;
  if (session.models || session.request.evolve) return traces;
  // The last step of the search has its own trace.
  const double certifying =
      session.certifications > 0 ? session.search_end - session.certify_begin : 0;
  searched->seconds -= certifying;
  traces.push_back({"certify", session.certifications, session.report.passed, certifying});
  return traces;
}

/// "report" of report.json: run, traces and cost.
Json summary_json(const Session& session, const Json& models) {
  Json stages = Json::array(), traces = Json::array();
  for (const StageTrace& trace : completed_traces(session)) {
    stages.push(trace.name);
    traces.push(trace_json(session, trace));
  }
  Json json = Json::object();
  json.set("run_id", session.report.run_id).set("spec_name", session.report.task_name);
  json.set("stages_executed", std::move(stages)).set("stage_traces", std::move(traces));
  const Json& total = models["ledger"]["total"];
  json.set("total_llm_tokens_in", tokens_in(total["usage"]));
  json.set("total_llm_tokens_out", total["usage"]["output"].as_int());
  json.set("total_cost_usd", models.is_null() ? Json(0.0) : total["usd"]);
  json.set("wall_time_seconds", session.report.wall_seconds);
  return json.set("warnings", single_run::texts(session.report.warnings));
}

Json search_json(const Session& session) {
  const SynthesisReport& report = session.report;
  const bool named = !session.models && session.proposer;
  Json json = Json::object();
  json.set("proposer", named ? session.proposer->name() : session.request.proposer);
  json.set("tried", static_cast<int64_t>(report.tried));
  json.set("rejected", static_cast<int64_t>(report.rejected));
  json.set("kept", static_cast<int64_t>(report.kept)).set("order_seed", session.order_seed);
  json.set("goal", session.request.goal).set("time_budget_seconds", session.request.seconds);
  if (session.outcome) {
    const double seconds = session.outcome->seconds;
    const size_t judged = session.outcome->measured;
    json.set("seconds", seconds).set("judged", static_cast<int64_t>(judged));
    const bool rate = judged > 0 && seconds > 0;
    json.set("judged_per_hour",
             rate ? Json(3600.0 * static_cast<double>(judged) / seconds) : Json());
  }
  return json.set("candidates", candidates_json(session));
}

}  // namespace

Json evolution_json(const Session& session) {
  if (!session.evolution) return Json();
  const EvolveWork& work = *session.evolution;
  const EvolveRequest& asked = *session.request.evolve;
  Json json = evolve::summary(work.settings, work.state, work.stopped);
  json.set("verifiers", asked.verifiers).set("shape_info", asked.shape_info);
  json.set("profile_feedback", asked.profile_feedback);
  if (!asked.reviewers.model.empty())
    json.set("readers", review::scoreboard_of(*session.run).json());
  json.set("unseen_baseline", "the first generated kernel");
  Json unseen = Json::array();
  for (const UnseenShape& shape : work.unseen) unseen.push(to_json(shape));
  json.set("unseen_shapes", std::move(unseen));
  return json.set("changes", single_run::texts(work.state.changes()));
}

Json report_document(const Session& session) {
  const SynthesisReport& report = session.report;
  const Json models = models_json(session);
  Json json = Json::object();
  json.set("passed", report.passed).set("run_id", report.run_id);
  json.set("artifacts_dir", report.folder);
  const bool failed = has_failed(session);
  json.set("failed_stage", failed ? Json(report.failed_stage) : Json());
  json.set("failure_reason", failed ? Json(report.failure_reason) : Json());
  json.set("report", summary_json(session, models)).set("correctness", correctness_json(session));
  json.set("performance", performance_json(session)).set("interrupted", report.interrupted);
  json.set("kernel", text_or_null(report.kernel_path)).set("design", text_or_null(report.design));
  json.set("tunes", tunes_json(report.tunes)).set("device", report.device);
  json.set("measured", report.measured).set("stopped", report.stopped);
  json.set("search", search_json(session)).set("prompt", prompt_json(session));
  json.set("notes", single_run::texts(report.notes));
  if (!models.is_null()) json.set("models", models);
  if (const Json evolution = evolution_json(session); !evolution.is_null())
    json.set("evolution", evolution);
  return json.set("kernelwright", session.request.version);
}

}  // namespace kw::workflows
