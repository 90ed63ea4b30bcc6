// report.json is read by tools of other kernel generators and by ours. So the first level and the
// members report, correctness and performance use the names of those generators, and our own
// members are added beside them. Null means "cannot be known here", never "not filled in"; a reader
// can rely on it. Times are called measured only if the clock gave them. The README of the kernel
// is made from the same numbers, so it cannot differ. A format of our own was the alternative;
// existing tools could not read it. The cost: some names do not match our glossary.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "single_run/json.h"
#include "variants/builtin.h"
#include "workflows/evolve_work.h"
#include "workflows/model_work.h"
#include "workflows/synthesis.h"

namespace kw::workflows {
namespace {

Json or_null(double value) { return value > 0 ? Json(value) : Json(); }

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

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

std::string relation_text(const timing::TimedEntry& entry) {
  return entry.comparison ? clock::relation_name(entry.comparison->relation) : "";
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

}  // namespace

std::string baseline_problem(const std::string& name, const std::string& problem) {
  return fmt::format("baseline {}{}{}", name, problem.starts_with("failed") ? " " : ": ", problem);
}

void Synthesis::fill_performance() {
  const timing::BenchReport& bench = judge_->certificate()->bench;
  report_.floor_us = judge_->floor().us;
  if (bench.candidate.measurement) {
    report_.measured = true;
    report_.us = bench.candidate.measurement->summary.median;
    if (bench.floor.us > 0) report_.floor_us = bench.floor.us;
  } else {
    const halving::Entry& entry = archive_.at(*outcome_->winner);
    const std::optional<timing::Cost>& cost = judge_->certificate()->cost;
    report_.us = entry.is_lower_bound || !cost ? 0 : cost->us;
  }
  if (report_.us > 0) report_.of_floor = report_.floor_us / report_.us;
  for (const timing::TimedEntry& rival : bench.rivals) {
    BaselineLine line;
    line.name = rival.name;
    if (rival.measurement) line.us = rival.measurement->summary.median;
    line.problem = rival.problem;
    if (rival.wrong && !rival.wrong->empty()) line.problem = "its result is wrong: " + *rival.wrong;
    if (rival.comparison && line.problem.empty()) {
      line.speedup = rival.comparison->speedup;
      line.low = rival.comparison->low;
      line.high = rival.comparison->high;
    }
    line.relation = relation_text(rival);
    report_.baselines.push_back(std::move(line));
  }
  if (const timing::TimedEntry* best = bench.best_rival()) {
    report_.speedup = best->comparison->speedup;
    report_.relation = relation_text(*best);
    report_.below_target = *report_.speedup < request_.perf_target;
    if (*report_.below_target) {
      report_.warnings.push_back(
          fmt::format("below target: {:.2f} times the speed of {}, {:.2f} was asked for",
                      *report_.speedup, best->name, request_.perf_target));
    }
  }
  for (const std::string& note : bench.notes) report_.notes.push_back(note);
  if (!priority().empty()) report_.notes.push_back(ranking_note());
}

// What the time in the summary does not show: how else the winner was ranked.
std::string Synthesis::ranking_note() const {
  std::vector<std::string> parts;
  for (const judge::ShapeTime& one : judge_->shape_times(judge_->certificate()->id)) {
    parts.push_back(one.problem.empty() ? fmt::format("{:.2f} us{} at {}", one.us,
                                                      one.measured ? "" : " (estimated)", one.dims)
                                        : fmt::format("not at {}: {}", one.dims, one.problem));
  }
  return fmt::format("{}: ranked by {}: {}", priority(), judge_->ranked_by(), join(parts, ", "));
}

void Synthesis::fill_report() {
  report_.wall_seconds = seconds();
  report_.tried = archive_.entries().size();
  report_.rejected = archive_.refused();
  if (judge_) report_.dims = task::dims_text(judge_->dims());
  if (outcome_) {
    report_.stopped = outcome_->stopped;
    report_.kept = outcome_->kept.size();
    trace(request_.evolve ? "evolve" : "search")->attempts = report_.tried;
    if (work_ == nullptr && !request_.evolve) {
      // The last step of the search has its own trace.
      const double certifying = certifications_ > 0 ? search_end_ - certify_begin_ : 0;
      trace("search")->seconds -= certifying;
      traces_.push_back({"certify", certifications_, report_.passed, certifying});
    } else if (StageTrace* certify = trace("certify"); certify != nullptr) {
      certify->attempts = certifications_;
    }
    if (request_.goal > 1)
      report_.warnings.push_back("a goal above 1 lies beyond the floor: no search stops at it");
  }
  if (const auto* builtin = dynamic_cast<const variants::Builtin*>(proposer_.get())) {
    for (const std::string& problem : builtin->problems())
      report_.warnings.push_back("a design could not be written: " + problem);
  }
  if (report_.passed && judge_->certificate()) {
    const halving::Entry& winner = archive_.at(*outcome_->winner);
    report_.design = winner.candidate.origin;
    report_.tunes = winner.candidate.tunes;
    report_.kernel_path = run_->folder() + "/final/kernel.cu";
    const record::Verdict& verdict = judge_->certificate()->bench.gate.gate.verdict;
    if (const auto* passed = std::get_if<record::Passed>(&verdict)) {
      report_.cells = passed->cells;
      report_.max_z = passed->summary.max_z;
    }
    report_.certified = !request_.seed && !(request_.quick && judge_->has_clock());
    const auto& checked = judge_->certificate()->bench.gate.cross_check;
    // PyTorch is installed but could not evaluate the reference.
    if (checked && checked->state == verification::CrossCheckState::NotChecked &&
        !checked->torch.empty())
      report_.warnings.push_back(checked->text());
    for (timing::TimedEntry const& rival : judge_->certificate()->bench.rivals) {
      if (!rival.problem.empty())
        report_.warnings.push_back(baseline_problem(rival.name, rival.problem));
    }
    fill_performance();
  }
  if (work_) fill_models();
  report_.document = document();
}

StageTrace* Synthesis::trace(const std::string& name) {
  const auto at = std::ranges::find(traces_, name, &StageTrace::name);
  return at == traces_.end() ? nullptr : &*at;
}

Json Synthesis::correctness_json() const {
  const verification::VerifyReport* verified = nullptr;
  if (judge_ && judge_->certificate())
    verified = &judge_->certificate()->bench.gate;
  else if (judge_ && judge_->last_refusal())
    verified = &*judge_->last_refusal();
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
  json.set("certified", report_.certified).set("replay_seeded", gate.replay_seeded);
  json.set("skipped", single_run::texts(gate.skipped)).set("lint", single_run::texts(gate.lint));
  json.set("cross_check", verified->cross_check ? to_json(*verified->cross_check) : Json());
  return json;
}

// The ranked time of the winner at each shape.
Json Synthesis::ranking_json(const std::string& id) const {
  Json shapes = Json::array();
  for (const judge::ShapeTime& one : judge_->shape_times(id)) {
    Json row = Json::object();
    row.set("dims", one.dims).set("time_us", one.measured ? Json(one.us) : Json());
    row.set("estimate_us", one.measured ? Json() : or_null(one.us));
    row.set("floor_us", or_null(one.floor_us));
    shapes.push(row.set("problem", one.problem.empty() ? Json() : Json(one.problem)));
  }
  const std::string said = priority();
  Json json = Json::object();
  json.set("priority", said.empty() ? Json() : Json(said)).set("by", judge_->ranked_by());
  return json.set("floor_us", or_null(judge_->rank_floor_us())).set("shapes", std::move(shapes));
}

Json Synthesis::performance_json() const {
  if (!report_.passed) return Json();
  const judge::Certificate& certificate = *judge_->certificate();
  const clock::Work& work = judge_->work();
  Json json = Json::object();
  json.set("speedup_vs_reference", number_or_null(against_best(report_.baselines, false)));
  json.set("speedup_vs_torch_compile", number_or_null(against_best(report_.baselines, true)));
  const bool timed = report_.measured && report_.us > 0;
  json.set("achieved_tflops", timed ? Json(work.flops / report_.us * 1e-6) : Json());
  json.set("achieved_gbps", timed ? Json(work.bytes() / report_.us * 1e-3) : Json());
  Json occupancy, registers, spills;
  if (certificate.occupancy) occupancy = *certificate.occupancy;
  for (const ports::KernelResources& kernel : certificate.resources) {
    if (kernel.registers >= 0) registers = std::max<int64_t>(registers.as_int(), kernel.registers);
    if (kernel.spill_store_bytes >= 0)
      spills = spills.as_int() + kernel.spill_store_bytes +
               std::max<int64_t>(kernel.spill_load_bytes, 0);
  }
  json.set("occupancy", occupancy).set("regs_per_thread", registers).set("spill_bytes", spills);
  json.set("below_target", report_.below_target ? Json(*report_.below_target) : Json());
  json.set("notes", single_run::texts(report_.notes))
      .set("warnings", single_run::texts(report_.warnings));
  json.set("time_us", timed ? Json(report_.us) : Json());
  json.set("estimate_us", timed ? Json() : or_null(report_.us));
  json.set("floor_us", or_null(report_.floor_us)).set("of_floor", or_null(report_.of_floor));
  json.set("floor", to_json(judge_->floor())).set("floor_of", calibration_.gpu);
  json.set("dims", report_.dims).set("perf_target", request_.perf_target);
  json.set("ranking", ranking_json(certificate.id));
  json.set("speedup_vs_best", number_or_null(report_.speedup));
  json.set("relation_to_best", report_.relation.empty() ? Json() : Json(report_.relation));
  Json baselines = Json::array();
  for (const BaselineLine& line : report_.baselines) {
    Json row = Json::object();
    row.set("name", line.name).set("us", or_null(line.us)).set("speedup", or_null(line.speedup));
    row.set("speedup_low", or_null(line.low)).set("speedup_high", or_null(line.high));
    row.set("relation", line.relation.empty() ? Json() : Json(line.relation));
    baselines.push(row.set("problem", line.problem.empty() ? Json() : Json(line.problem)));
  }
  json.set("baselines", std::move(baselines));
  json.set("cost_model", certificate.cost ? to_json(*certificate.cost) : Json());
  json.set("bench", certificate.bench.candidate.measurement ? to_json(certificate.bench) : Json());
  return json;
}

Json Synthesis::prompt_json() const {
  Json phrases = Json::array();
  for (const reference::Phrase& phrase : prompt_.phrases) {
    Json row = Json::object();
    row.set("kind", reference::phrase_kind_name(phrase.kind)).set("text", phrase.text);
    phrases.push(row.set("value", phrase.value).set("effect", phrase.effect));
  }
  Json json = Json::object();
  return json.set("understood", std::move(phrases))
      .set("unused", single_run::texts(prompt_.unused));
}

Json Synthesis::candidates_json() const {
  Json list = Json::array();
  const auto push = [&](const halving::Entry& entry) {
    Json tunes = Json::object();
    for (const auto& [name, value] : entry.candidate.tunes) tunes.set(name, value);
    Json row = Json::object();
    row.set("id", entry.candidate.id).set("design", entry.candidate.origin);
    if (!entry.candidate.model.empty()) row.set("model", entry.candidate.model);
    row.set("tunes", std::move(tunes)).set("estimate_us", or_null(entry.estimate_us));
    row.set("estimate_is_lower_limit", entry.is_lower_bound);
    row.set("measured_us", or_null(entry.measured_us())).set("certified", entry.certified);
    list.push(row.set("refused", entry.alive() ? Json() : Json(entry.outcome.refused)));
  };
  for (const halving::Entry* entry : archive_.ranked()) push(*entry);
  for (const halving::Entry& entry : archive_.entries()) {
    if (!entry.alive()) push(entry);
  }
  return list;
}

Json Synthesis::document() const {
  Json stages = Json::array(), traces = Json::array();
  for (const StageTrace& trace : traces_) {
    stages.push(trace.name);
    traces.push(trace_json(trace));
  }
  Json report = Json::object();
  report.set("run_id", report_.run_id).set("spec_name", report_.task_name);
  report.set("stages_executed", std::move(stages)).set("stage_traces", std::move(traces));
  const Json models = models_json();
  const Json& total = models["ledger"]["total"];
  report.set("total_llm_tokens_in", tokens_in(total["usage"]));
  report.set("total_llm_tokens_out", total["usage"]["output"].as_int());
  report.set("total_cost_usd", models.is_null() ? Json(0.0) : total["usd"]);
  report.set("wall_time_seconds", report_.wall_seconds)
      .set("warnings", single_run::texts(report_.warnings));
  Json json = Json::object();
  json.set("passed", report_.passed).set("run_id", report_.run_id);
  json.set("artifacts_dir", report_.folder);
  const bool failed = !report_.failed_stage.empty();
  json.set("failed_stage", failed ? Json(report_.failed_stage) : Json());
  json.set("failure_reason", failed ? Json(report_.failure_reason) : Json());
  json.set("report", std::move(report)).set("correctness", correctness_json());
  json.set("performance", performance_json()).set("interrupted", report_.interrupted);
  json.set("kernel", report_.kernel_path.empty() ? Json() : Json(report_.kernel_path));
  json.set("design", report_.design.empty() ? Json() : Json(report_.design));
  Json tunes = Json::object();
  for (const auto& [name, value] : report_.tunes) tunes.set(name, value);
  json.set("tunes", std::move(tunes)).set("device", report_.device);
  json.set("measured", report_.measured).set("stopped", report_.stopped);
  Json searched = Json::object();
  searched.set("proposer", !work_ && proposer_ ? proposer_->name() : request_.proposer);
  searched.set("tried", static_cast<int64_t>(report_.tried));
  searched.set("rejected", static_cast<int64_t>(report_.rejected));
  searched.set("kept", static_cast<int64_t>(report_.kept)).set("order_seed", order_seed_);
  searched.set("goal", request_.goal).set("time_budget_seconds", request_.seconds);
  if (outcome_) {
    searched.set("seconds", outcome_->seconds);
    searched.set("judged", static_cast<int64_t>(outcome_->measured));
    const bool rate = outcome_->measured > 0 && outcome_->seconds > 0;
    searched.set(
        "judged_per_hour",
        rate ? Json(3600.0 * static_cast<double>(outcome_->measured) / outcome_->seconds) : Json());
  }
  json.set("search", searched.set("candidates", candidates_json()));
  json.set("prompt", prompt_json()).set("notes", single_run::texts(report_.notes));
  if (!models.is_null()) json.set("models", models);
  if (const Json evolution = evolution_json(); !evolution.is_null())
    json.set("evolution", evolution);
  return json.set("kernelwright", request_.version);
}

std::string Synthesis::readme() const {
  std::string tunes;
  for (const auto& [name, value] : report_.tunes) tunes += fmt::format(" {}={}", name, value);
  std::string out = fmt::format(
      "# {}\n\n`kernel.cu` is a kernel module: device code with its launch plan in `//!` lines. "
      "Design {}{}{}, found by `kernelwright {}` in run {}.\n\n",
      report_.task_name, report_.design, tunes.empty() ? "" : ",", tunes,
      request_.evolve ? "evolve" : "synthesize", report_.run_id);
  out += fmt::format("- right: {} cells, worst error {:.3g} of its bound, judged on {}{}\n",
                     report_.cells, report_.max_z, report_.device,
                     report_.certified ? " with fresh random inputs" : " with replayed seeds");
  if (report_.measured) {
    out += fmt::format("- fast: {:.2f} us at {}, {:.0f} % of the floor of {:.2f} us\n", report_.us,
                       report_.dims, 100 * report_.of_floor, report_.floor_us);
  } else if (report_.us > 0) {
    out += fmt::format("- estimated (never measured): {:.2f} us at {} on {}\n", report_.us,
                       report_.dims, calibration_.gpu);
  }
  for (const BaselineLine& line : report_.baselines) {
    if (line.speedup > 0)
      out += fmt::format("- {:.2f} times as fast as {} ({})\n", line.speedup, line.name,
                         line.relation);
  }
  if (evolving_) out += evolution_text(evolution_json(), true);
  out += fmt::format("\nJudge it again: `kernelwright verify kernel.cu --reference {}`\n",
                     request_.models.store_reference ? "../inputs/reference.py" : "REF");
  return out;
}

store::FinalFiles Synthesis::final_files() const {
  store::FinalFiles files;
  if (!report_.passed || !judge_->certificate()) return files;
  const judge::Certificate& certificate = *judge_->certificate();
  files.kernel_cu = certificate.text;
  if (certificate.ptx) files.kernel_ptx = certificate.ptx->image;
  if (certificate.cubin) files.kernel_cubin = certificate.cubin->image;
  files.readme = readme();
  return files;
}

}  // namespace kw::workflows
