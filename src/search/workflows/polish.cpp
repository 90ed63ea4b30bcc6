// A model adds comments to the winner, because the reader of a kernel needs to know why it is fast.
// The commented module is judged like every other, and it never replaces a faster winner. If
// anything fails, the winner is shipped as it was verified. Numbers in comments come from our own
// measurements; those that a model writes are removed. Trusting a model to change only comments was
// the alternative; models also change code.
#include <fmt/core.h>

#include "core/contains.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

constexpr double kSlower = 1.05;  // noise allowed for the same code
constexpr int kPolishEffort = 2;  // for timing a polished kernel beside the plain one

Status refused(const std::string& why) {
  return input_error("the annotated module was refused: " + why);
}

/// The lines that we write into a polished kernel.
std::vector<std::string> measured_lines(const Session& session, const halving::Entry& winner) {
  const judge::Certificate& certificate = *session.judge->certificate();
  const std::string dims = task::dims_text(session.judge->dims());
  std::vector<std::string> lines;
  if (const auto* passed = std::get_if<record::Passed>(&certificate.bench.gate.gate.verdict))
    lines.push_back(
        fmt::format("Verified by kernelwright: {} cells, worst error {:.3g} of its bound.",
                    passed->cells, passed->summary.max_z));
  if (const auto& measurement = certificate.bench.candidate.measurement)
    lines.push_back(
        fmt::format("Measured by kernelwright on {}: {:.2f} us at {}, {:.0f} % of the floor.",
                    certificate.bench.device.name, measurement->summary.median, dims,
                    100 * session.judge->floor().us / measurement->summary.median));
  else if (certificate.cost && !winner.is_lower_bound)
    lines.push_back(
        fmt::format("Estimated by kernelwright for {}, never measured: {:.2f} us at {}.",
                    session.calibration.gpu, certificate.cost->us, dims));
  return lines;
}

// The winner with a model's comments and our measurements.
Result<record::Candidate> annotated(Session& session, const halving::Entry& winner) {
  ModelWork& work = *session.models;
  for (const halving::Entry& entry : session.archive.entries()) {
    const std::vector<std::string>& parents = entry.candidate.parents;
    const bool its = contains(parents, winner.candidate.id);
    if (entry.alive() && its && entry.candidate.stage == "polish") return entry.candidate;
  }
  record::Candidate shown = winner.candidate;
  shown.text = session.judge->certificate()->text;
  std::string why;
  const auto answer =
      KW_TRY(work.stages->polish(shown, work.judge->explain(winner.candidate), &why));
  work.attempts = work.stages->attempts();
  if (!answer) return input_error(why);
  record::Candidate made = record::make_candidate(
      stages::with_header(stages::without_claims(answer->text), measured_lines(session, winner)),
      winner.candidate.tunes, "llm", answer->origin, {winner.candidate.id});
  made.model = answer->model;
  made.stage = answer->stage;
  made.attempt = answer->attempt;
  return made;
}

// The annotated module must be as fast as the plain one, raced together or by estimate without a
// clock. Equal code may differ by noise; changed code must not be slower.
Status check_speed(Session& session, const halving::Entry& winner, const record::Candidate& made) {
  const bool same = stages::same_code(session.judge->certificate()->text, made.text);
  const std::vector<ports::Outcome> screened =
      KW_TRY(session.judge->examine({winner.candidate, made}, ports::Depth::Screen));
  const halving::Entry& entry = session.archive.note(made, screened[1]);
  double before = screened[0].us, after = screened[1].us;
  bool slower = screened[1].is_lower_bound && !screened[0].is_lower_bound;  // counting was stopped
  if (session.judge->has_clock() && entry.alive()) {
    const std::vector<ports::Outcome> looks =
        KW_TRY(session.judge->race({winner.candidate, made}, {.effort = kPolishEffort}));
    before = looks[0].us;
    after = looks[1].us;
    session.archive.note(made, looks[1]);
    slower = false;
  }
  if (!entry.alive()) return refused(entry.outcome.refused);
  slower = slower || after > (same ? kSlower : 1) * before;
  if (!slower) return Done{};
  const std::string why =
      fmt::format("the annotated module {}is slower: {:.2f} us, compared with {:.2f} us ({})",
                  same ? "" : "changes code and ", after, before,
                  session.judge->has_clock() ? "measured together" : "estimated");
  session.archive.note(made, ports::Outcome::refusal(why));
  return input_error(why);
}

// The Error says why the annotated kernel must not be shipped.
Status annotate(Session& session) {
  ModelWork& work = *session.models;
  const halving::Entry winner = session.archive.at(*session.outcome->winner);
  if (winner.candidate.stage == "polish") return Done{};  // by an earlier session
  const record::Candidate made = KW_TRY(annotated(session, winner));
  session.archive.add(made);
  const ports::Outcome compiled = KW_TRY(work.judge->examine_one(made, ports::Depth::Compile));
  KW_TRY(work.journal->show("stage5_polish", made.id));
  if (!compiled.passed()) return refused(compiled.refused);
  KW_TRY(check_speed(session, winner, made));
  const ports::Outcome look = KW_TRY(session.judge->certify(made));
  KW_TRY(work.journal->show("stage5_polish", made.id));
  halving::Entry& entry = session.archive.at(made.id);
  entry.outcome.refused = look.refused;
  if (!look.refused.empty()) return refused(look.refused);
  entry.certified = true;
  session.outcome->winner = made.id;
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
  const judge::Certificate plain = *session.judge->certificate();
  const Status done = traced(session, "polish", annotate);
  work.polished = static_cast<bool>(done);
  if (work.polished) return Done{};
  work.why_not_polished = done.error().message;
  session.judge->keep(plain);
  session.report.warnings.push_back("polish: " + work.why_not_polished +
                                    "; the kernel is shipped as it was verified");
  return Done{};
}

}  // namespace kw::workflows
