// The step in which models write kernels. It is skipped when the built-in search reached the goal
// or when a provider failed before. Its stages (stages/) write their own traces.
#include <fmt/core.h>

#include "os/interrupt.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

// The results of earlier sessions of this run.
stages::StageProgress stage_progress(const Session& session) {
  const std::vector<stages::Attempt>& attempts = session.models->attempts;
  stages::StageProgress known;
  known.attempts = attempts;
  for (const halving::Entry* entry : session.archive.ranked()) {
    if (entry->candidate.model.empty() || entry->candidate.stage == "polish") continue;
    known.right = entry->candidate;
    known.us = entry->us();
    break;
  }
  for (auto at = attempts.rbegin(); at != attempts.rend() && !known.wrong; ++at) {
    const bool writes = at->stage == "codegen" || at->stage == "correctness";
    if (!writes || !at->succeeded || at->candidate.empty()) continue;
    if (auto candidate = session.run->candidate(at->candidate)) known.wrong = *candidate;
  }
  return known;
}

/// Why no model is asked; "" when one is.
std::string why_no_talk(const Session& session) {
  const halving::Entry* best = session.archive.best();
  const double floor = session.judge->rank_floor_us();
  const bool counts = best != nullptr && (!session.judge->has_clock() || best->outcome.measured);
  if (session.request.proposer == "hybrid" && counts && best->us() > 0 &&
      floor / best->us() >= session.request.goal)
    return fmt::format("the built-in proposer reached the goal ({:.0f} % of the floor)",
                       100 * floor / best->us());
  return session.models->provider ? session.models->provider->error().message : "";
}

Status write_kernels(Session& session) {
  ModelWork& work = *session.models;
  work.why_no_talk = why_no_talk(session);
  if (!work.why_no_talk.empty()) return Done{};
  work.judge = explaining_judge(session);
  work.reviewers = KW_TRY(open_reviewers(session, session.request.reviewers, work.no_verifier));
  // As in an evolution, reviewers come before the judge.
  if (work.reviewers)
    work.reviewed_judge =
        std::make_unique<review::ReviewedJudge>(*work.judge, work.reviewers->verifier());
  stages::Ports ports;
  ports.judge = work.judge.get();
  if (work.reviewed_judge) ports.judge = work.reviewed_judge.get();
  ports.journal = work.journal.get();
  ports.answer = answers_of(session);
  ports.known = [&session](const std::string& id) { return known_candidate(session, id); };
  ports.report_progress = [&session](const std::string& stage, const std::string& detail) {
    session.models->stage = stage;
    report_progress(session, stage, detail);
  };
  work.stages = std::make_unique<stages::Stages>(work.session->plan(), stage_input(session),
                                                 std::move(ports), stage_progress(session));
  work.history = KW_TRY(work.stages->write());
  KW_TRY(os::check_interrupted());
  return Done{};
}

void add_history(const stages::StageHistory& history, Session& session) {
  for (const stages::StageOutcome& stage : history.stages)
    session.traces.push_back({stages::stage_name(stage.stage), 0, stage.succeeded, stage.seconds});
  for (const std::string& note : history.notes) session.report.notes.push_back(note);
  const stages::StageOutcome* failed = history.failed();
  if (failed == nullptr) return;
  ModelWork& work = *session.models;
  work.why_not = fmt::format("{}: {}", stages::stage_name(failed->stage), failed->reason);
  // A provider's failure is reported once, at the end.
  if (!work.provider) session.report.warnings.push_back(work.why_not);
}

}  // namespace

stages::StageInput stage_input(const Session& session) {
  stages::StageInput input;
  input.name = session.task->name;
  input.reference = session.reference_text;
  input.prompt = session.task->prompt;
  input.spec = stages::to_json(session.models->spec).dump(true);
  input.interface = session.models->interface;
  input.target = session.models->target;
  input.goal = session.request.goal;
  input.floor_us = session.judge->rank_floor_us();
  const halving::Entry* best = session.archive.best();
  if (session.request.proposer == "hybrid" && best != nullptr && best->candidate.model.empty()) {
    input.built_in = best->candidate;
    input.built_in_us = best->us();
  }
  return input;
}

std::optional<record::Candidate> known_candidate(const Session& session, const std::string& id) {
  for (const halving::Entry& entry : session.archive.entries()) {
    if (entry.candidate.id.starts_with(id)) return entry.candidate;
  }
  if (auto kept = session.run->candidate(id)) return *kept;
  return std::nullopt;
}

Status talk(Session& session) {
  if (has_failed(session)) return Done{};
  ModelWork& work = *session.models;
  work.stage = "codegen";
  session.progress.eta_seconds.reset();
  const Status done = guarded(session, write_kernels);
  if (work.stages) work.attempts = work.stages->attempts();
  if (work.history) add_history(*work.history, session);
  if (!work.why_no_talk.empty())
    (work.provider ? session.report.warnings : session.report.notes)
        .push_back("no model was asked: " + work.why_no_talk);
  if (done) return Done{};
  if (!work.history) session.traces.push_back({work.stage, 0, false, 0});
  fail(session, work.stage, done.error());
  return Done{};
}

}  // namespace kw::workflows
