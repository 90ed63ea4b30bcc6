// The last step completes the report from the state and writes it with the final files. All but
// write_report() itself are functions of a constant session, so the order of the other steps cannot
// depend on them. report.json is written for every run that has a folder, because later tools need
// the reason of a failure. If it cannot be written, that is the failure. Filling the report during
// the steps was the alternative; a step that fails would then leave half of it.
#include <fmt/core.h>

#include "core/text.h"
#include "variants/builtin.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

bool has_kernel(const Session& session) {
  return session.report.passed && session.judge->certificate();
}

std::string relation_text(const timing::TimedEntry& entry) {
  return entry.comparison ? clock::relation_name(entry.comparison->relation) : "";
}

BaselineLine baseline_line(const timing::TimedEntry& rival) {
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
  return line;
}

// What the time in the summary does not show: how else the winner was ranked.
std::string ranking_note(const Session& session) {
  std::vector<std::string> parts;
  for (const judge::ShapeTime& one : session.judge->shape_times(session.judge->certificate()->id)) {
    parts.push_back(one.problem.empty() ? fmt::format("{:.2f} us{} at {}", one.us,
                                                      one.measured ? "" : " (estimated)", one.dims)
                                        : fmt::format("not at {}: {}", one.dims, one.problem));
  }
  return fmt::format("{}: ranked by {}: {}", priority(session), session.judge->ranked_by(),
                     join(parts, ", "));
}

void add_performance(const Session& session, SynthesisReport& report) {
  const judge::Certificate& certificate = *session.judge->certificate();
  const timing::BenchReport& bench = certificate.bench;
  report.floor_us = session.judge->floor().us;
  if (bench.candidate.measurement) {
    report.measured = true;
    report.us = bench.candidate.measurement->summary.median;
    if (bench.floor.us > 0) report.floor_us = bench.floor.us;
  } else {
    const halving::Entry& entry = session.archive.at(*session.outcome->winner);
    report.us = entry.is_lower_bound || !certificate.cost ? 0 : certificate.cost->us;
  }
  if (report.us > 0) report.of_floor = report.floor_us / report.us;
  for (const timing::TimedEntry& rival : bench.rivals)
    report.baselines.push_back(baseline_line(rival));
  if (const timing::TimedEntry* best = bench.best_rival()) {
    report.speedup = best->comparison->speedup;
    report.relation = relation_text(*best);
    report.below_target = *report.speedup < session.request.perf_target;
    if (*report.below_target) {
      report.warnings.push_back(
          fmt::format("below target: {:.2f} times the speed of {}; the target is {:.2f}",
                      *report.speedup, best->name, session.request.perf_target));
    }
  }
  for (const std::string& note : bench.notes) report.notes.push_back(note);
  if (!priority(session).empty()) report.notes.push_back(ranking_note(session));
}

void add_winner(const Session& session, SynthesisReport& report) {
  const record::Candidate& winner = session.archive.at(*session.outcome->winner).candidate;
  const timing::BenchReport& bench = session.judge->certificate()->bench;
  report.design = winner.origin;
  report.tunes = winner.tunes;
  report.kernel_path = session.run->folder() + "/final/kernel.cu";
  report.fresh = !session.request.seed && !(session.request.quick && session.judge->has_clock());
  if (const auto* passed = std::get_if<record::Passed>(&bench.gate.gate.verdict)) {
    report.cells = passed->cells;
    report.max_z = passed->summary.max_z;
    report.deterministic = passed->deterministic;
    report.batch = passed->batch;
    report.below = passed->below;
    report.certified = report.fresh && passed->certified;
  }
  const auto& checked = bench.gate.cross_check;
  // PyTorch is installed but could not evaluate the reference.
  if (checked && checked->state == verification::CrossCheckState::NotChecked &&
      !checked->torch.empty())
    report.warnings.push_back(checked->text());
  for (const timing::TimedEntry& rival : bench.rivals) {
    if (!rival.problem.empty())
      report.warnings.push_back(baseline_problem(rival.name, rival.problem));
  }
}

void add_models(const Session& session, SynthesisReport& report) {
  ModelWork& work = *session.models;
  const llm::LedgerTotals totals = work.session->client().ledger().totals();
  for (const std::string& warning : work.session->warnings()) report.warnings.push_back(warning);
  report.models =
      fmt::format("{}, {} calls, {} tokens in, {} out ({} read from the cache)",
                  join(work.session->model_names(), ", "), totals.calls,
                  totals.usage.input + totals.usage.cache_read + totals.usage.cache_write,
                  totals.usage.output, totals.usage.cache_read);
  report.cost = llm::cost_text(totals);
  if (!work.provider) return;
  const bool kept = report.passed || report.interrupted;
  report.warnings.push_back(
      fmt::format("the provider failed: {}{}", work.provider->error().message,
                  kept && session.request.proposer == "hybrid"
                      ? "; candidates of the built-in proposer and of earlier answers are used"
                      : ""));
}

/// All members but the document.
SynthesisReport completed_report(const Session& session) {
  SynthesisReport report = session.report;
  report.wall_seconds = seconds(session);
  report.tried = session.archive.entries().size();
  report.rejected = session.archive.refused();
  if (session.judge) report.dims = task::dims_text(session.judge->dims());
  if (session.outcome) {
    report.stopped = session.outcome->stopped;
    report.kept = session.outcome->kept.size();
    if (session.request.goal > 1)
      report.warnings.push_back("a goal above 1 lies beyond the floor, so no search reaches it");
  }
  if (const auto* builtin = dynamic_cast<const variants::Builtin*>(session.proposer.get())) {
    for (const std::string& problem : builtin->problems())
      report.warnings.push_back("a design could not be written: " + problem);
  }
  if (has_kernel(session)) {
    add_winner(session, report);
    add_performance(session, report);
  }
  if (session.models) add_models(session, report);
  if (session.tools.verify.compiler != nullptr) {
    for (const std::string& note : session.tools.verify.compiler->notes())
      report.notes.push_back(note);
  }
  return report;
}

/// The options without which `verify` would read another task from the stored reference.
std::string task_words(const Session& session) {
  const SynthesizeRequest& request = session.request;
  std::vector<std::string> options = verification::task_options(
      request.inputs, request.function.empty() ? session.task->function : request.function);
  if (!request.mode.empty()) options.insert(options.end(), {"--mode", request.mode});
  for (const auto& [name, value] : request.dims)
    options.insert(options.end(), {"--dim", fmt::format("{}={}", name, value)});
  std::string words;
  for (const std::string& word : options) words += " " + shell_quote(word);
  return words;
}

std::string readme(const Session& session) {
  const SynthesisReport& report = session.report;
  std::string tunes;
  for (const auto& [name, value] : report.tunes) tunes += fmt::format(" {}={}", name, value);
  std::string out = fmt::format(
      "# {}\n\n`kernel.cu` is a kernel module: device code with its launch plan in `//!` lines. "
      "Design {}{}{}, found by `kernelwright {}` in run {}.\n\n",
      report.task_name, report.design, tunes.empty() ? "" : ",", tunes,
      session.request.evolve ? "evolve" : "synthesize", report.run_id);
  out += fmt::format("- right: {} cells, worst error {:.3g} of its bound, judged on {}{}\n",
                     report.cells, report.max_z, report.device,
                     report.fresh ? " with fresh random inputs" : " with replayed seeds");
  if (!report.below.empty()) out += fmt::format("- judged {}\n", report.below);
  if (report.measured) {
    out += fmt::format("- fast: {:.2f} us at {}, {:.0f} % of the floor of {:.2f} us\n", report.us,
                       report.dims, 100 * report.of_floor, report.floor_us);
  } else if (report.us > 0) {
    out += fmt::format("- estimated (never measured): {:.2f} us at {} on {}\n", report.us,
                       report.dims, session.calibration.gpu);
  }
  for (const BaselineLine& line : report.baselines) {
    if (line.speedup > 0)
      out += fmt::format("- {:.2f} times as fast as {} ({})\n", line.speedup, line.name,
                         line.relation);
  }
  if (session.evolution) out += evolution_text(evolution_json(session), true);
  out += fmt::format("\nJudge it again: `kernelwright verify kernel.cu --reference {}{}`\n",
                     session.request.models.store_reference ? "../inputs/reference.py" : "REF",
                     task_words(session));
  return out;
}

store::FinalFiles final_files(const Session& session) {
  store::FinalFiles files;
  if (!has_kernel(session)) return files;
  const judge::Certificate& certificate = *session.judge->certificate();
  files.kernel_cu = certificate.text;
  if (certificate.ptx) files.kernel_ptx = certificate.ptx->image;
  if (certificate.cubin) files.kernel_cubin = certificate.cubin->image;
  files.readme = readme(session);
  return files;
}

// Writes the result of each stage where users of other generators expect it.
Status show_outcome(Session& session) {
  const Json& document = session.report.document;
  const auto write = [&session](const char* path, const Json& json) -> Status {
    return json.is_null() ? Status(Done{}) : session.run->write(path, json.dump(true) + "\n");
  };
  KW_TRY(write("stage3_correctness/report.json", document["correctness"]));
  KW_TRY(write("stage4_performance/report.json", document["performance"]));
  if (!session.report.passed) return Done{};
  Json polish = document["models"]["polish"];
  KW_TRY(
      write("stage5_polish/status.json", polish.set("kernel_cu_path", session.report.kernel_path)));
  return session.run->show("stage5_polish/final", "final");
}

}  // namespace

std::string baseline_problem(const std::string& name, const std::string& problem) {
  return fmt::format("baseline {}{}{}", name, problem.starts_with("failed") ? " " : ": ", problem);
}

Status write_report(Session& session) {
  SynthesisReport& report = session.report;
  report = completed_report(session);
  report.document = report_document(session);
  const Status written = session.run->finish(report.document, final_files(session));
  if (written)
    return session.models && !session.request.evolve ? show_outcome(session) : Status(Done{});
  report.passed = false;
  report.failed_stage = "store";
  report.failure_reason = written.error().message;
  report.error_blame = static_cast<int>(written.error().blame);
  return Done{};
}

}  // namespace kw::workflows
