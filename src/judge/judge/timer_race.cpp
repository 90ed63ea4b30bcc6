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

ports::Outcome RaceResult::outcome() const {
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

Status Timer::admit(const record::Candidate& candidate, RaceResult& result) {
  KW_TRY(os::check_interrupted());
  timing::Lane& lane = context_.lanes.first();
  if (lane.shapes.front().ready.count(candidate.id) == 0) {
    result.gate = KW_TRY(verifier_.verify(candidate));
    result.verdict = result.gate->gate.verdict;
    if (!record::passed(result.verdict)) return Done{};
  }
  context_.report_progress("judging " + candidate.origin + " at the timed shape");
  result.verdict = KW_TRY(ready(lane, candidate));
  return Done{};
}

Status Timer::find_culprit(const ports::Candidates& candidates, const std::vector<size_t>& members,
                           const std::string& why, std::vector<RaceResult>& results) {
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
    results[i].verdict = *verdict;
    found = true;
  }
  for (const size_t i : members) {
    if (!found) results[i].problem = "they could not be timed together: " + why;
  }
  return Done{};
}

Result<bool> Timer::time_together(const ports::Candidates& candidates,
                                  const std::vector<size_t>& members, bool quick,
                                  std::vector<RaceResult>& results) {
  timing::Lane& lane = context_.lanes.first();
  timing::LaneShape& at = lane.shapes.front();
  std::vector<timing::TimedCandidate*> timed;
  std::vector<ports::TimedProgram> programs;
  for (const size_t i : members) {
    results[i].measurement.reset();
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
          fmt::format("{}: {}", ports::run_status_name(outcome.status), outcome.message), results));
      return false;
    }
    bool refused = false;
    for (size_t k = 0; k < members.size(); ++k) {
      const clock::Measurement& one = outcome.measurements[k];
      if (one.rejected) results[members[k]].verdict = rejected(record::Stage::Audit, *one.rejected);
      refused = refused || one.rejected.has_value();
      clock::extend(results[members[k]].measurement, one);
      auto more = clock::cycles_of(outcome.measurements[0], one, worker);
      std::ranges::move(more, std::back_inserter(cycles[k]));
    }
    if (refused) return false;
  }
  for (size_t k = 1; members[0] == 0 && k < members.size(); ++k)
    results[members[k]].comparison = clock::compare(cycles[k]);
  return true;
}

Result<std::vector<RaceResult>> Timer::race_together(const ports::Candidates& candidates,
                                                     bool quick) {
  KW_CHECK(context_.has_clock(), "a race needs a clock");
  for (const record::Candidate& candidate : candidates) context_.compile_for_gate(candidate);
  std::vector<RaceResult> results(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) KW_TRY(admit(candidates[i], results[i]));
  for (bool done = false; !done;) {
    std::vector<size_t> members;
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].in_race()) members.push_back(i);
    }
    done = members.empty() || KW_TRY(time_together(candidates, members, quick, results));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    RaceResult& result = results[i];
    if (result.in_race()) {
      KW_TRY(note_time(context_.first(), candidates[i], "race", *result.measurement));
      continue;
    }
    result.measurement.reset();
    result.comparison.reset();
    const bool gate_passed = !result.gate || record::passed(result.gate->gate.verdict);
    if (gate_passed && !record::passed(result.verdict))
      KW_TRY(context_.refuse(candidates[i], result.verdict));
  }
  return results;
}

// The first always stays.
Result<std::vector<ports::Outcome>> Timer::compare(const ports::Candidates& candidates,
                                                   bool quick) {
  const bool heat = !quick && candidates.size() > kMostTogether;
  std::vector<RaceResult> results = KW_TRY(race_together(candidates, quick || heat));
  if (heat) {
    std::vector<size_t> best;
    for (size_t i = 1; i < results.size(); ++i) {
      if (results[i].measurement) best.push_back(i);
    }
    std::ranges::stable_sort(best, {},
                             [&](size_t i) { return results[i].measurement->summary.median; });
    if (best.size() >= kMostTogether) best.resize(kMostTogether - 1);
    best.insert(best.begin(), 0);
    ports::Candidates chosen;
    for (const size_t i : best) chosen.push_back(candidates[i]);
    std::vector<RaceResult> again = KW_TRY(race_together(chosen, false));
    for (size_t k = 0; k < best.size(); ++k) {
      again[k].gate = std::move(results[best[k]].gate);
      results[best[k]] = std::move(again[k]);
    }
  }
  std::vector<ports::Outcome> out;
  for (const RaceResult& result : results) out.push_back(result.outcome());
  return out;
}

}  // namespace kw::judge
