// report.json is read by tools of other kernel generators and by ours. So the first level and the
// members report, correctness and performance use the names of those generators, and our own
// members are added beside them. Null means "cannot be known here", never "not filled in"; a reader
// can rely on it. Times are called measured only if the clock gave them. The README of the kernel
// is made from the same numbers, so it cannot differ. A format of our own was the alternative;
// existing tools could not read it. The cost: some names do not match our glossary.
#include <fmt/core.h>

#include <algorithm>

#include "core/contains.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "evolve/compare_runs.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

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
  return json_list(rows, [](auto& v, const auto& one) {
    const auto& [shape, row] = one;
    v("shape", shape)("passed", row.passed)("cells", row.cells)("max_abs_err", row.worst.max_abs);
    v("max_rel_err", row.worst.max_rel)("max_z", row.worst.max_z)("why", row.why);
  });
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
  const Json results = shape_results(gate);
  for (const Json& row : results.items()) shapes.push(row["shape"]);
  const auto number = [summary](double record::ErrorSummary::*member) {
    return summary != nullptr ? Json(summary->*member) : Json();
  };
  JsonWriter v;
  v("passed", record::passed(gate.verdict))("max_abs_err", number(&record::ErrorSummary::max_abs));
  v("max_rel_err", number(&record::ErrorSummary::max_rel))("shapes_tested", shapes);
  v("shape_results", results)("failing_inputs", failing_inputs(gate.verdict));
  v("max_z", number(&record::ErrorSummary::max_z))("rms_z", number(&record::ErrorSummary::rms_z));
  v("verdict", record::verdict_name(gate.verdict))("device", gate.device);
  v("certified", session.report.certified)("replay_seeded", gate.replay_seeded);
  v("judge", record::kJudgeVersion);
  if (const auto* passed = std::get_if<record::Passed>(&gate.verdict)) {
    v("complete", passed->complete)("below", passed->below)("incomplete", passed->incomplete);
    v("deterministic", passed->deterministic)("batch_invariant", passed->batch.holds);
    v("sum_order", passed->sum_order);
  }
  v("skipped", gate.skipped)("lint", gate.lint)("cross_check", verified->cross_check);
  return v.take();
}

// The ranked time of the winner at each shape.
Json ranking_json(const Session& session, const std::string& id) {
  JsonWriter v;
  v("priority", priority(session), Zero::Null)("by", session.judge->ranked_by());
  v("floor_us", session.judge->rank_floor_us(), Zero::Null);
  v("shapes", json_list(session.judge->shape_times(id), [](auto& row, const judge::ShapeTime& s) {
      row("dims", s.dims)("time_us", s.measured ? Json(s.us) : Json());
      row("estimate_us", s.measured ? 0 : s.us, Zero::Null)("floor_us", s.floor_us, Zero::Null);
      row("problem", s.problem, Zero::Null);
    }));
  return v.take();
}

void add_resources(const judge::Certificate& certificate, JsonWriter& v) {
  std::optional<int64_t> registers, spills;
  for (const ports::KernelResources& kernel : certificate.resources) {
    if (kernel.registers >= 0)
      registers = std::max<int64_t>(registers.value_or(0), kernel.registers);
    if (kernel.spill_store_bytes >= 0)
      spills = spills.value_or(0) + kernel.spill_store_bytes +
               std::max<int64_t>(kernel.spill_load_bytes, 0);
  }
  v("occupancy", certificate.occupancy)("regs_per_thread", registers)("spill_bytes", spills);
}

Json baselines_json(const std::vector<BaselineLine>& lines) {
  return json_list(lines, [](auto& v, const BaselineLine& line) {
    v("name", line.name)("us", line.us, Zero::Null)("speedup", line.speedup, Zero::Null);
    v("speedup_low", line.low, Zero::Null)("speedup_high", line.high, Zero::Null);
    v("relation", line.relation, Zero::Null)("problem", line.problem, Zero::Null);
  });
}

Json performance_json(const Session& session) {
  const SynthesisReport& report = session.report;
  if (!report.passed) return Json();
  const judge::Certificate& certificate = *session.judge->certificate();
  const clock::Work& work = session.judge->work();
  const bool timed = report.measured && report.us > 0;
  const auto if_timed = [timed](double value) { return timed ? Json(value) : Json(); };
  JsonWriter v;
  v("speedup_vs_reference", against_best(report.baselines, false));
  v("speedup_vs_torch_compile", against_best(report.baselines, true));
  v("achieved_tflops", if_timed(work.flops / report.us * 1e-6));
  v("achieved_gbps", if_timed(work.bytes() / report.us * 1e-3));
  add_resources(certificate, v);
  v("below_target", report.below_target)("notes", report.notes)("warnings", report.warnings);
  v("time_us", if_timed(report.us))("estimate_us", timed ? 0 : report.us, Zero::Null);
  v("floor_us", report.floor_us, Zero::Null)("of_floor", report.of_floor, Zero::Null);
  v("floor", session.judge->floor())("floor_of", session.calibration.gpu)("dims", report.dims);
  v("perf_target", session.request.perf_target);
  v("ranking", ranking_json(session, certificate.id))("speedup_vs_best", report.speedup);
  v("relation_to_best", report.relation, Zero::Null);
  v("baselines", baselines_json(report.baselines))("cost_model", certificate.cost);
  v("bench", certificate.bench.candidate.measurement ? to_json(certificate.bench) : Json());
  return v.take();
}

Json prompt_json(const Session& session) {
  JsonWriter v;
  v("understood", json_list(session.prompt.phrases, [](auto& row, const reference::Phrase& p) {
      row("kind", reference::phrase_kind_name(p.kind))("text", p.text)("value", p.value);
      row("effect", p.effect);
    }));
  return v("unused", session.prompt.unused).take();
}

Json candidates_json(const Session& session) {
  std::vector<const halving::Entry*> entries = session.archive.ranked();
  for (const halving::Entry& entry : session.archive.entries()) {
    if (!entry.alive()) entries.push_back(&entry);
  }
  return json_list(entries, [](auto& v, const halving::Entry* entry) {
    const record::Candidate& candidate = entry->candidate;
    v("id", candidate.id)("design", candidate.origin)("model", candidate.model, Zero::Omit);
    v("tunes", candidate.tunes)("estimate_us", entry->estimate_us, Zero::Null);
    v("estimate_is_lower_limit", entry->is_lower_bound);
    v("measured_us", entry->measured_us(), Zero::Null)("certified", entry->certified);
    v("refused", entry->alive() ? Json() : Json(entry->outcome.refused));
  });
}

/// The sum of one stage's calls. A row's label starts with the stage's name.
struct StageUse {
  std::vector<std::string> models, providers, degraded;
  llm::Usage usage;
  double seconds = 0;
};

void add_new(std::vector<std::string>& list, const std::string& text) {
  if (!contains(list, text)) list.push_back(text);
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
  JsonWriter v;
  v("stage_name", trace.name)("attempts", attempts)("succeeded", trace.succeeded);
  v("model_used", use.models.empty() ? "none" : join(use.models, ","));
  v("tokens_in", use.usage.input)("tokens_out", use.usage.output);
  v("cache_read_tokens", use.usage.cache_read);
  v("latency_seconds", use.seconds > 0 ? use.seconds : trace.seconds);
  if (!session.models) return v.take();
  v("provider", join(use.providers, ","), Zero::Null)("degraded", use.degraded);
  return v("wall_seconds", trace.seconds).take();
}

Json models_json(const Session& session) {
  if (!session.models) return session.past_models;
  const ModelWork& work = *session.models;
  const stages::ModelPlan& plan = work.session->plan();
  JsonWriter v, models, budgets;
  for (const stages::Stage stage : stages::kAllStages) {
    models(stages::stage_name(stage), plan.model(stage).text());
    budgets(stages::stage_name(stage), plan.budget(stage));
  }
  v("stage_models", models.take())("retry_budgets", budgets.take());
  v("escalate", plan.escalate)("escalation_model", plan.escalation.text());
  v.group("escalation_budgets", [&](auto& g) {
    g("codegen", plan.escalated_codegen)("performance", plan.escalated_performance);
  });
  v("budget_usd", session.request.models.budget_usd.value_or(stages::kDefaultBudget));
  v("transcripts", session.request.models.transcripts)("attempts", work.attempts);
  v("not_asked", work.why_no_talk, Zero::Null);
  v("provider_failure", work.provider ? Json(work.provider->error().message) : Json());
  v.group("polish", [&](auto& g) {
    g("accepted", work.polished)("reason", work.why_not_polished, Zero::Null);
  });
  if (work.reviewed_judge) v("readers", review::scoreboard_of(*session.run).json());
  return v("ledger", work.session->client().ledger().json()).take();
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
  const Json& total = models["ledger"]["total"];
  JsonWriter v;
  v("run_id", session.report.run_id)("spec_name", session.report.task_name);
  v("stages_executed", stages)("stage_traces", traces);
  v("total_llm_tokens_in", tokens_in(total["usage"]));
  v("total_llm_tokens_out", total["usage"]["output"].as_int());
  v("total_cost_usd", models.is_null() ? Json(0.0) : total["usd"]);
  v("wall_time_seconds", session.report.wall_seconds)("warnings", session.report.warnings);
  return v.take();
}

Json search_json(const Session& session) {
  const SynthesisReport& report = session.report;
  const bool named = !session.models && session.proposer;
  JsonWriter v;
  v("proposer", named ? session.proposer->name() : session.request.proposer);
  v("tried", report.tried)("rejected", report.rejected)("kept", report.kept);
  v("order_seed", session.order_seed)("goal", session.request.goal);
  v("time_budget_seconds", session.request.seconds);
  if (session.outcome) {
    const double seconds = session.outcome->seconds;
    const auto judged = static_cast<double>(session.outcome->measured);
    v("seconds", seconds)("judged", session.outcome->measured);
    v("judged_per_hour", judged > 0 && seconds > 0 ? Json(3600.0 * judged / seconds) : Json());
  }
  return v("candidates", candidates_json(session)).take();
}

}  // namespace

Json evolution_json(const Session& session) {
  if (!session.evolution) return Json();
  const EvolveWork& work = *session.evolution;
  const EvolveRequest& asked = *session.request.evolve;
  JsonWriter v(evolve::summary(work.settings, work.state, work.stopped));
  v("verifiers", asked.verifiers)("shape_info", asked.shape_info);
  v("profile_feedback", asked.profile_feedback);
  if (!asked.reviewers.model.empty()) v("readers", review::scoreboard_of(*session.run).json());
  v("unseen_baseline", "the first generated kernel")("unseen_shapes", work.unseen);
  return v("changes", work.state.changes()).take();
}

Json report_document(const Session& session) {
  const SynthesisReport& report = session.report;
  const Json models = models_json(session), evolution = evolution_json(session);
  const bool failed = has_failed(session);
  JsonWriter v;
  v("passed", report.passed)("run_id", report.run_id)("artifacts_dir", report.folder);
  v("failed_stage", failed ? Json(report.failed_stage) : Json());
  v("failure_reason", failed ? Json(report.failure_reason) : Json());
  v("report", summary_json(session, models))("correctness", correctness_json(session));
  v("performance", performance_json(session))("interrupted", report.interrupted);
  v("kernel", report.kernel_path, Zero::Null)("design", report.design, Zero::Null);
  v("tunes", report.tunes)("device", report.device)("measured", report.measured);
  v("stopped", report.stopped)("search", search_json(session))("prompt", prompt_json(session));
  v("notes", report.notes)("models", models, When{!models.is_null()});
  v("evolution", evolution, When{!evolution.is_null()});
  return v("kernelwright", session.request.version).take();
}

}  // namespace kw::workflows
