// The problem: timing is slow and noisy, and most candidates are not worth timing. So every
// candidate is screened first, in milliseconds and without a clock. Only candidates whose estimate
// is within `spread` of the best are verified and timed, with few samples. The best of those are
// timed against each other in rounds. Each round drops half of them and takes more samples. One is
// then certified. Timing every candidate in full would be simpler, but most of the time would go to
// slow candidates. The cost: a candidate whose estimate is far too high is never measured. Without
// a clock the estimates alone give the order of certification.
#include "halving/search.h"

#include <algorithm>

#include "core/check.h"
#include "core/contains.h"

namespace kw::halving {
namespace {

constexpr double kBetter = 0.995;  // smaller gains do not count as progress

class Search {
 public:
  Search(Proposer& proposer, ports::Judge& judge, Archive& archive, const Options& options)
      : proposer_(proposer), judge_(judge), archive_(archive), options_(options) {
    refresh();
    progress_.since_better = 0;
  }

  Result<SearchResult> run() {
    KW_TRY(explore());
    if (judge_.has_clock()) KW_TRY(finals());
    KW_TRY(certify());
    for (const Entry* entry : archive_.ranked()) {
      if (entry->candidate.id != outcome_.winner) outcome_.kept.push_back(entry->candidate.id);
    }
    return std::move(outcome_);
  }

 private:
  Status explore();
  Result<bool> screen(size_t count);
  ports::Candidates worth_measuring() const;
  Result<bool> measure();
  Status finals();
  Status certify();
  std::vector<std::string> certification_order() const;
  /// `timed`: by the clock; otherwise it was screened.
  void note(const record::Candidate& candidate, const ports::Outcome& look, bool timed);
  void refresh();
  void report_progress(Phase phase) const {
    if (options_.watch) options_.watch(progress_, phase);
  }

  Proposer& proposer_;
  ports::Judge& judge_;
  Archive& archive_;
  const Options& options_;
  SearchProgress progress_;
  std::vector<std::string> finalists_;  // ids, best first, after the paired timings
  SearchResult outcome_;
};

void Search::refresh() {
  const Entry* best = archive_.best();
  progress_.seconds = options_.seconds();
  progress_.clock = judge_.has_clock();
  progress_.refused = archive_.refused();
  progress_.floor_us = options_.floor_us;
  progress_.tried = static_cast<size_t>(std::ranges::count_if(
      archive_.entries(), [](const Entry& entry) { return entry.us() > 0 || !entry.alive(); }));
  if (best == nullptr) return;
  const bool kind_changed = progress_.measured != best->outcome.measured;
  if (progress_.best_us == 0 || kind_changed || best->us() < kBetter * progress_.best_us)
    progress_.since_better = 0;
  progress_.best_us = best->us();
  progress_.measured = best->outcome.measured;
}

void Search::note(const record::Candidate& candidate, const ports::Outcome& look, bool timed) {
  archive_.note(candidate, look);
  // If the judge has a clock, only measured results count here.
  if (!judge_.has_clock() || timed) ++progress_.since_better;
  refresh();
}

Result<bool> Search::screen(size_t count) {
  const std::vector<record::Candidate> proposed = KW_TRY(proposer_.propose(count, archive_));
  ports::Candidates fresh;
  for (const record::Candidate& candidate : proposed) {
    if (archive_.add(candidate)) fresh.push_back(candidate);
  }
  if (fresh.empty()) return false;
  const std::vector<ports::Outcome> looks = KW_TRY(judge_.examine(fresh, ports::Depth::Screen));
  KW_CHECK(looks.size() == fresh.size(), "one answer per candidate");
  for (size_t i = 0; i < fresh.size(); ++i) note(fresh[i], looks[i], false);
  report_progress(Phase::Screen);
  return true;
}

// The best estimates among the candidates not measured yet, at most options_.lane.
ports::Candidates Search::worth_measuring() const {
  if (!judge_.has_clock()) return {};
  std::vector<const Entry*> waiting;
  double best = 0;
  for (const Entry& entry : archive_.entries()) {
    if (!entry.alive() || entry.estimate_us <= 0) continue;
    if (!entry.is_lower_bound && (best == 0 || entry.estimate_us < best)) best = entry.estimate_us;
    if (!entry.outcome.measured) waiting.push_back(&entry);
  }
  if (options_.by_estimate)
    std::ranges::stable_sort(waiting, {}, [](const Entry* entry) {
      return std::pair(entry->is_lower_bound, entry->estimate_us);
    });
  ports::Candidates chosen;
  for (const Entry* entry : waiting) {
    const bool hopeless = options_.by_estimate && best > 0 &&
                          (entry->is_lower_bound || entry->estimate_us > options_.spread * best);
    if (hopeless || chosen.size() == options_.lane) break;
    chosen.push_back(entry->candidate);
  }
  return chosen;
}

Result<bool> Search::measure() {
  const ports::Candidates chosen = worth_measuring();
  if (chosen.empty()) return false;
  const std::vector<ports::Outcome> looks = KW_TRY(judge_.examine(chosen, ports::Depth::Time));
  KW_CHECK(looks.size() == chosen.size(), "one answer per candidate");
  for (size_t i = 0; i < chosen.size(); ++i) note(chosen[i], looks[i], true);
  outcome_.measured += chosen.size();
  report_progress(Phase::Measure);
  return true;
}

Status Search::explore() {
  // When a rule applies from the start, one candidate is still screened, and measured if possible.
  std::optional<std::string> stop = first_reason(options_.rules, progress_);
  if (stop && archive_.best() == nullptr) KW_TRY(screen(1));
  if (stop && !progress_.measured) KW_TRY(measure());
  while (!stop) {
    // Measuring is the slow step: no more candidates are screened while a full lane waits.
    const bool enough = judge_.has_clock() && worth_measuring().size() >= options_.lane;
    const bool screened = !enough && KW_TRY(screen(options_.batch));
    const bool measured = KW_TRY(measure());
    refresh();
    stop = first_reason(options_.rules, progress_);
    if (!stop && !screened && !measured) stop = "no untried candidate is left";
  }
  outcome_.stopped = *stop;
  outcome_.seconds = options_.seconds();
  return Done{};
}

Status Search::finals() {
  ports::Candidates field;
  const std::vector<const Entry*> ranked = archive_.ranked();
  for (const Entry* entry : ranked) {
    const bool close =
        entry->outcome.measured && entry->us() <= options_.contend * ranked.front()->us();
    if (close && field.size() < options_.finalists) field.push_back(entry->candidate);
  }
  std::vector<std::string> leavers;  // ids; the last to leave is the best of them
  for (int effort = 1; field.size() > 1; ++effort) {
    report_progress(Phase::Pair);
    const std::vector<ports::Outcome> looks = KW_TRY(judge_.race(field, {.effort = effort}));
    KW_CHECK(looks.size() == field.size(), "one answer per candidate");
    ports::Candidates alive;
    for (size_t i = 0; i < field.size(); ++i) {
      note(field[i], looks[i], true);
      if (looks[i].refused.empty()) alive.push_back(field[i]);
    }
    std::ranges::stable_sort(alive, {}, [&](const record::Candidate& candidate) {
      return archive_.at(candidate.id).us();
    });
    const size_t stay = (alive.size() + 1) / 2;
    for (size_t i = alive.size(); i > stay; --i) leavers.push_back(alive[i - 1].id);
    alive.resize(stay);
    field = std::move(alive);
  }
  for (const record::Candidate& candidate : field) finalists_.push_back(candidate.id);
  finalists_.insert(finalists_.end(), leavers.rbegin(), leavers.rend());
  return Done{};
}

std::vector<std::string> Search::certification_order() const {
  std::vector<std::string> order = finalists_;
  for (const Entry* entry : archive_.ranked()) {
    if (!contains(order, entry->candidate.id)) order.push_back(entry->candidate.id);
  }
  return order;
}

Status Search::certify() {
  size_t tries = 0;
  for (const std::string& id : certification_order()) {
    if (tries++ == options_.certifications) break;
    report_progress(Phase::Certify);
    const ports::Outcome look = KW_TRY(judge_.certify(archive_.at(id).candidate));
    Entry& entry = archive_.at(id);
    entry.outcome.refused = look.refused;
    refresh();
    if (!look.refused.empty()) continue;
    entry.certified = true;
    if (judge_.has_clock()) archive_.note(entry.candidate, ports::Outcome::time(look.us));
    outcome_.winner = id;
    refresh();
    break;
  }
  return Done{};
}

}  // namespace

Proposer::~Proposer() = default;

const char* phase_name(Phase phase) {
  constexpr const char* kNames[] = {"screening", "measuring", "pairing", "certifying"};
  return kNames[static_cast<int>(phase)];
}

Result<SearchResult> run(Proposer& proposer, ports::Judge& judge, Archive& archive,
                         const Options& options) {
  return Search(proposer, judge, archive, options).run();
}

}  // namespace kw::halving
