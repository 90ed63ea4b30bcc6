// A model adds comments to the winner, because the reader of a kernel needs to know why it is fast.
// The commented module is judged like every other, and it never replaces a faster winner. If
// anything fails, the winner is shipped as it was verified. Numbers in comments come from our own
// measurements; those that a model writes are removed. Trusting a model to change only comments was
// the alternative; models also change code.
#include <fmt/core.h>

#include <algorithm>

#include "workflows/steps.h"

namespace kw::workflows {
namespace {

constexpr double kSlower = 1.05;  // noise allowed for the same code
constexpr int kPolishEffort = 2;  // for timing a polished kernel beside the plain one

/// The lines that we write into a polished kernel.
std::vector<std::string> measured_lines(const judge::Certificate& certificate,
                                        const halving::Entry& entry, const std::string& dims,
                                        double floor_us, const std::string& rates_of) {
  std::vector<std::string> lines;
  if (const auto* passed = std::get_if<record::Passed>(&certificate.bench.gate.gate.verdict)) {
    lines.push_back(
        fmt::format("Verified by kernelwright: {} cells, worst error {:.3g} of its bound.",
                    passed->cells, passed->summary.max_z));
  }
  const auto& measurement = certificate.bench.candidate.measurement;
  if (measurement) {
    lines.push_back(
        fmt::format("Measured by kernelwright on {}: {:.2f} us at {}, {:.0f} % of the "
                    "floor.",
                    certificate.bench.device.name, measurement->summary.median, dims,
                    100 * floor_us / measurement->summary.median));
  } else if (certificate.cost && !entry.is_lower_bound) {
    lines.push_back(
        fmt::format("Estimated by kernelwright for {}, never measured: {:.2f} us at {}.", rates_of,
                    certificate.cost->us, dims));
  }
  return lines;
}

// The winner with a model's comments and our measurements; not set when no model wrote them.
Result<std::optional<record::Candidate>> annotated(Session& session, const halving::Entry& winner) {
  ModelWork& work = *session.models;
  for (const halving::Entry& entry : session.archive.entries()) {
    const std::vector<std::string>& parents = entry.candidate.parents;
    const bool its = std::ranges::find(parents, winner.candidate.id) != parents.end();
    if (entry.alive() && its && entry.candidate.stage == "polish")
      return std::optional(entry.candidate);
  }
  const judge::Certificate& plain = *session.judge->certificate();
  record::Candidate shown = winner.candidate;
  shown.text = plain.text;
  const auto answer = KW_TRY(
      work.stages->polish(shown, work.judge->explain(winner.candidate), &work.why_not_polished));
  work.attempts = work.stages->attempts();
  if (!answer) return answer;
  const std::vector<std::string> lines =
      measured_lines(plain, winner, task::dims_text(session.judge->dims()),
                     session.judge->floor().us, session.calibration.gpu);
  record::Candidate made =
      record::make_candidate(stages::with_header(stages::without_claims(answer->text), lines),
                             winner.candidate.tunes, "llm", answer->origin, {winner.candidate.id});
  made.model = answer->model;
  made.stage = answer->stage;
  made.attempt = answer->attempt;
  return std::optional(made);
}

// "" when the annotated module is as fast as the plain one, raced together or by estimate without a
// clock. Equal code may differ by noise; changed code must not be slower.
Result<std::string> slower_than(Session& session, const halving::Entry& winner,
                                const record::Candidate& made, const judge::Certificate& plain) {
  const bool same = stages::same_code(plain.text, made.text);
  halving::Entry& entry = session.archive.at(made.id);
  const std::vector<ports::Outcome> screened =
      KW_TRY(session.judge->examine({winner.candidate, made}, ports::Depth::Screen));
  entry.estimate_us = screened[1].us;
  entry.is_lower_bound = screened[1].is_lower_bound;
  entry.refused = screened[1].refused;
  double before = screened[0].us, after = screened[1].us;
  bool slower = screened[1].is_lower_bound && !screened[0].is_lower_bound;  // counting was stopped
  if (session.judge->has_clock() && entry.alive()) {
    const std::vector<ports::Outcome> looks =
        KW_TRY(session.judge->race({winner.candidate, made}, kPolishEffort));
    before = looks[0].us;
    after = entry.measured_us = looks[1].us;
    entry.refused = looks[1].refused;
    slower = false;
  }
  if (!entry.alive()) return "the annotated module was refused: " + entry.refused;
  slower = slower || after > (same ? kSlower : 1) * before;
  if (!slower) return std::string();
  entry.refused = fmt::format("the annotated module {}is slower: {:.2f} us beside {:.2f} us ({})",
                              same ? "" : "changes code and ", after, before,
                              session.judge->has_clock() ? "measured together" : "estimated");
  return entry.refused;
}

// Why the annotated kernel must not be shipped; "" when it was certified like the winner.
Result<std::string> certify_annotated(Session& session, const record::Candidate& made,
                                      const halving::Entry& winner,
                                      const judge::Certificate& plain) {
  ModelWork& work = *session.models;
  session.archive.add(made);
  const ports::Outcome compiled = KW_TRY(work.judge->examine_one(made, ports::Depth::Compile));
  KW_TRY(work.journal->show("stage5_polish", made.id));
  if (!compiled.passed()) return "the annotated module was refused: " + compiled.refused;
  const std::string slower = KW_TRY(slower_than(session, winner, made, plain));
  if (!slower.empty()) return slower;
  const ports::Outcome look = KW_TRY(session.judge->certify(made));
  KW_TRY(work.journal->show("stage5_polish", made.id));
  halving::Entry& entry = session.archive.at(made.id);
  entry.refused = look.refused;
  if (!look.refused.empty()) return "the annotated module was refused: " + look.refused;
  entry.certified = true;
  return std::string();
}

// If anything fails, the winner is shipped unchanged.
Status annotate(Session& session) {
  ModelWork& work = *session.models;
  const halving::Entry winner = session.archive.at(*session.outcome->winner);
  work.polished = winner.candidate.stage == "polish";  // by an earlier session
  if (work.polished) return Done{};
  const auto made = KW_TRY(annotated(session, winner));
  if (!made) return Done{};
  const judge::Certificate plain = *session.judge->certificate();
  work.why_not_polished = KW_TRY(certify_annotated(session, *made, winner, plain));
  if (!work.why_not_polished.empty()) {
    session.judge->keep(plain);
    return Done{};
  }
  session.outcome->winner = made->id;
  work.polished = true;
  return Done{};
}

}  // namespace

Status polish(Session& session) {
  ModelWork& work = *session.models;
  const bool can = !has_failed(session) && session.outcome && session.outcome->winner &&
                   work.stages != nullptr && !work.provider &&
                   work.session->plan().budget(stages::Stage::Polish) > 0;
  if (!can) return Done{};
  report_progress(session, "polish", "");
  const double begin = seconds(session);
  const judge::Certificate plain = *session.judge->certificate();
  const Status done = guarded(session, annotate);
  if (!done) {
    work.why_not_polished = done.error().message;
    session.judge->keep(plain);
  }
  session.traces.push_back({"polish", 0, work.polished, seconds(session) - begin});
  if (work.polished) return Done{};
  session.report.warnings.push_back("polish: " + work.why_not_polished +
                                    "; the kernel is shipped as it was verified");
  return Done{};
}

}  // namespace kw::workflows
