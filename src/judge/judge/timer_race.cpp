// Times of different races cannot be compared, so a comparison times all candidates that passed
// together, in several processes, and compares the first with each. More than eight are raced
// quickly first, and only the best meet at full length. A candidate that fails is removed and the
// others are raced again. Comparing medians of separate timings was the alternative; drift of the
// clock rate would decide. The cost: one failure repeats the race.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "core/check.h"
#include "judge/parts.h"
#include "os/interrupt.h"

namespace kw::judge {
namespace {

constexpr size_t kMostTogether = 8;  // in one race at full length
constexpr int kProcesses = 3;
constexpr double kWarmup = 0.2;
constexpr int64_t kRacePairs = 80, kQuickPairs = 40;  // samples in each process

/// The time of the first candidate over that of the other.
ports::Ratio ratio_of(const clock::Comparison& first) {
  ports::Ratio ratio;
  ratio.value = 1 / first.speedup;
  ratio.low = first.high > 0 ? 1 / first.high : 0;
  ratio.high = first.low > 0 ? 1 / first.low : 0;
  clock::Relation other = first.relation;
  if (other == clock::Relation::Faster)
    other = clock::Relation::Slower;
  else if (other == clock::Relation::Slower)
    other = clock::Relation::Faster;
  ratio.relation = clock::relation_name(other);
  ratio.detectable = first.detectable;
  ratio.pairs = first.pairs;
  return ratio;
}

}  // namespace

ports::Outcome Racer::outcome() const {
  ports::Outcome out = ports::Outcome::refusal(verdict_reason(verdict));
  if (out.passed()) out.detail = problem;
  out.verdict = record::verdict_name(verdict);
  out.documents = Json::object();
  out.documents.set("verdict", record::to_json(verdict));
  if (gate) out.documents.set("gate", to_json(*gate));
  if (measurement) {
    out.us = measurement->summary.median;
    out.measured = true;
    out.samples_us = measurement->samples.microseconds;
    out.documents.set("timing", to_json(*measurement));
  }
  if (comparison) {
    out.ratio = ratio_of(*comparison);
    out.documents.set("first_against_this", to_json(*comparison));
  }
  return out;
}

Status Timer::admit(const record::Candidate& candidate, Racer& racer) {
  KW_TRY(os::check_interrupted());
  timing::Lane& lane = context_.lanes.first();
  if (lane.shapes.front().ready.count(candidate.id) == 0) {
    racer.gate = KW_TRY(verifier_.verify(candidate));
    racer.verdict = racer.gate->gate.verdict;
    if (!record::passed(racer.verdict)) return Done{};
  }
  context_.report_progress("judging " + candidate.origin + " at the timed shape");
  racer.verdict = KW_TRY(ready(lane, candidate));
  return Done{};
}

Status Timer::find_culprit(const ports::Candidates& candidates, const std::vector<size_t>& members,
                           const std::string& why, std::vector<Racer>& racers) {
  timing::LaneShape& at = context_.lanes.first().shapes.front();
  bool found = false;
  for (const size_t i : members) {
    KW_TRY(os::check_interrupted());
    const std::vector<timing::TimedCandidate*> alone = {at.ready.at(candidates[i].id).get()};
    const auto outcome =
        KW_TRY(clock::measure(*context_.lanes.first().tools.verify.gpu, {alone[0]->timed()},
                              measure_options(*at.shape, alone, 0)));
    const std::optional<record::Verdict> verdict = timing_verdict(outcome);
    if (!verdict) continue;
    racers[i].verdict = *verdict;
    found = true;
  }
  for (const size_t i : members) {
    if (!found) racers[i].problem = "they could not be timed together: " + why;
  }
  return Done{};
}

Result<bool> Timer::time_racers(const ports::Candidates& candidates,
                                const std::vector<size_t>& members, bool quick,
                                std::vector<Racer>& racers) {
  timing::Lane& lane = context_.lanes.first();
  timing::LaneShape& at = lane.shapes.front();
  std::vector<timing::TimedCandidate*> timed;
  std::vector<ports::TimedProgram> programs;
  for (const size_t i : members) {
    racers[i].measurement.reset();
    timed.push_back(at.ready.at(candidates[i].id).get());
    programs.push_back(timed.back()->timed());
  }
  std::vector<std::vector<clock::Cycle>> cycles(members.size());
  const int processes = quick ? 1 : kProcesses;
  for (int worker = 0; worker < processes; ++worker) {
    KW_TRY(os::check_interrupted());
    context_.report_progress(
        fmt::format("timing {} kernels, process {} of {}", programs.size(), worker + 1, processes));
    if (processes > 1 && lane.tools.renew) lane.tools.renew();
    clock::MeasureOptions measure = measure_options(*at.shape, timed, quick ? 1 : 5);
    measure.protocol.seed = context_.seed + 7919 * ++races_;
    // In a new process the GPU's clock rate is still low.
    if (!quick) measure.protocol.warmup_seconds = kWarmup;
    measure.rule.min_samples = quick ? kQuickPairs : kRacePairs;
    const clock::MeasureOutcome outcome =
        KW_TRY(clock::measure(*lane.tools.verify.gpu, programs, measure));
    if (outcome.status != ports::RunStatus::Completed) {
      KW_TRY(find_culprit(
          candidates, members,
          fmt::format("{}: {}", ports::run_status_name(outcome.status), outcome.message), racers));
      return false;
    }
    bool refused = false;
    for (size_t k = 0; k < members.size(); ++k) {
      const clock::Measurement& one = outcome.measurements[k];
      if (one.rejected) racers[members[k]].verdict = rejected(record::Stage::Audit, *one.rejected);
      refused = refused || one.rejected.has_value();
      clock::extend(racers[members[k]].measurement, one);
      auto more = clock::cycles_of(outcome.measurements[0], one, worker);
      std::ranges::move(more, std::back_inserter(cycles[k]));
    }
    if (refused) return false;
  }
  for (size_t k = 1; members[0] == 0 && k < members.size(); ++k)
    racers[members[k]].comparison = clock::compare(cycles[k]);
  return true;
}

Result<std::vector<Racer>> Timer::race_together(const ports::Candidates& candidates, bool quick) {
  KW_CHECK(context_.has_clock(), "a race needs a clock");
  for (const record::Candidate& candidate : candidates) context_.compile_for_gate(candidate);
  std::vector<Racer> racers(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) KW_TRY(admit(candidates[i], racers[i]));
  for (bool done = false; !done;) {
    std::vector<size_t> members;
    for (size_t i = 0; i < racers.size(); ++i) {
      if (racers[i].in_race()) members.push_back(i);
    }
    done = members.empty() || KW_TRY(time_racers(candidates, members, quick, racers));
  }
  for (size_t i = 0; i < racers.size(); ++i) {
    Racer& racer = racers[i];
    if (racer.in_race()) {
      KW_TRY(note_time(context_.first(), candidates[i], "race", *racer.measurement));
      continue;
    }
    racer.measurement.reset();
    racer.comparison.reset();
    const bool gate_passed = !racer.gate || record::passed(racer.gate->gate.verdict);
    if (gate_passed && !record::passed(racer.verdict))
      KW_TRY(context_.refuse(candidates[i], racer.verdict));
  }
  return racers;
}

// The first always stays.
Result<std::vector<ports::Outcome>> Timer::compare(const ports::Candidates& candidates,
                                                   bool quick) {
  const bool heat = !quick && candidates.size() > kMostTogether;
  std::vector<Racer> racers = KW_TRY(race_together(candidates, quick || heat));
  if (heat) {
    std::vector<size_t> best;
    for (size_t i = 1; i < racers.size(); ++i) {
      if (racers[i].measurement) best.push_back(i);
    }
    std::ranges::stable_sort(best, {},
                             [&](size_t i) { return racers[i].measurement->summary.median; });
    if (best.size() >= kMostTogether) best.resize(kMostTogether - 1);
    best.insert(best.begin(), 0);
    ports::Candidates chosen;
    for (const size_t i : best) chosen.push_back(candidates[i]);
    std::vector<Racer> again = KW_TRY(race_together(chosen, false));
    for (size_t k = 0; k < best.size(); ++k) {
      again[k].gate = std::move(racers[best[k]].gate);
      racers[best[k]] = std::move(again[k]);
    }
  }
  std::vector<ports::Outcome> out;
  for (const Racer& racer : racers) out.push_back(racer.outcome());
  return out;
}

}  // namespace kw::judge
