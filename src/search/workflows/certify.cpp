// The winner is judged again, with fresh inputs and the full gate. With models, the tunables of
// their best modules are first searched like those of built-in designs. After an evolution without
// a clock, the simplest kernel among the best comes first, because estimates cannot order close
// kernels; if it is refused, the next one is tried, at most eight. With a clock those near the best
// are raced first. Certifying only the best was the alternative; one refusal would then lose the
// whole run.
#include <algorithm>

#include "variants/builtin.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

constexpr size_t kTuned = 8;          // tunable values tried for models' modules, without a clock
constexpr size_t kTunedModules = 3;   // modules of models that are tuned
constexpr size_t kTunePlateau = 16;   // measured without a better one
constexpr double kTuneShare = 0.5;    // of the search time
constexpr size_t kMostCertified = 8;  // certifications tried at most

// Searches the tunable values of models' modules like those of the built-in proposer.
std::unique_ptr<halving::Proposer> tuner(const Session& session) {
  std::vector<variants::Recipe> recipes;
  std::vector<const halving::Entry*> ranked = session.archive.ranked();
  if (session.models->reviewed_judge)
    std::ranges::stable_sort(ranked, std::greater(), [&session](const halving::Entry* entry) {
      return session.models->reviewed_judge->score(entry->candidate.id);
    });
  for (const halving::Entry* entry : ranked) {
    const record::Candidate& candidate = entry->candidate;
    const bool plain = !candidate.model.empty() && candidate.stage != "polish";
    if (!plain || recipes.size() == kTunedModules) continue;
    recipes.push_back(
        {candidate.origin, [text = candidate.text]() -> Result<std::string> { return text; }});
  }
  if (recipes.empty() || session.only_measure) return variants::no_proposer();
  return std::make_unique<variants::Builtin>(std::move(recipes), session.order_seed);
}

Result<halving::SearchResult> race_evolved(Session& session) {
  halving::Options options = search_options(session);
  options.rules.clear();
  options.rules.push_back(halving::stop_after_seconds(0));
  const std::unique_ptr<halving::Proposer> none = variants::no_proposer();
  return halving::run(*none, *session.judge, session.archive, options);
}

Result<halving::SearchResult> certify_simplest(Session& session) {
  halving::SearchResult outcome;
  const evolve::Population& evolved = session.evolution->state.archive();
  std::vector<const evolve::Entry*> order = evolved.ranked();
  const evolve::Entry* plain = evolved.simplest_best();
  std::ranges::stable_partition(order, [&](const evolve::Entry* one) { return one == plain; });
  session.certify_begin = seconds(session);
  for (size_t i = 0; i < order.size() && i < kMostCertified && !outcome.winner; ++i) {
    ++session.certifications;
    const ports::Outcome look = KW_TRY(session.judge->certify(order[i]->candidate));
    halving::Entry& entry = session.archive.at(order[i]->candidate.id);
    entry.outcome.refused = look.refused;
    entry.certified = look.refused.empty();
    if (entry.certified) outcome.winner = order[i]->candidate.id;
  }
  for (const halving::Entry* entry : session.archive.ranked()) {
    if (entry->candidate.id != outcome.winner) outcome.kept.push_back(entry->candidate.id);
  }
  return outcome;
}

}  // namespace

Status certify_models(Session& session) {
  halving::Options options = search_options(session);
  options.rules.clear();
  options.rules.push_back(halving::stop_at_goal(session.request.goal));
  options.rules.push_back(halving::stop_after_seconds(kTuneShare * session.request.seconds));
  const size_t tried = session.archive.entries().size();
  options.rules.push_back(session.judge->has_clock()
                              ? halving::stop_at_plateau(kTunePlateau)
                              : halving::stop_after_candidates(tried + kTuned));
  const std::unique_ptr<halving::Proposer> tuning = tuner(session);
  const std::optional<halving::SearchResult> explored = std::move(session.outcome);
  session.outcome = KW_TRY(halving::run(*tuning, *session.judge, session.archive, options));
  if (explored) {
    session.outcome->stopped = explored->stopped;
    session.outcome->seconds += explored->seconds;
    session.outcome->measured += explored->measured;
  }
  return Done{};
}

Status certify_evolved(Session& session) {
  const EvolveWork& work = *session.evolution;
  halving::SearchResult outcome =
      KW_TRY(session.judge->has_clock() ? race_evolved(session) : certify_simplest(session));
  outcome.stopped = work.stopped;
  outcome.seconds = session.search_end;
  outcome.measured = static_cast<size_t>(
      std::ranges::count_if(work.state.archive().entries(), &evolve::Entry::judged));
  session.outcome = std::move(outcome);
  return Done{};
}

}  // namespace kw::workflows
