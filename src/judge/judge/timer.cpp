// A candidate is timed only if it is right at the timed shape itself. So one lane runs the gate,
// prepares the candidate at each ranked shape, judges its outputs there and then starts the clock.
// Prepared candidates stay in the lane, because a race times them again. A race times all together,
// interleaved; if it fails, each is timed alone to find the cause. A shape that does not fit in
// memory is dropped, except the first. The alternative, to time first and verify the winner, would
// let wrong kernels lead a search.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>

#include "binding/inputs.h"
#include "binding/load.h"
#include "judge/parts.h"
#include "os/entropy.h"
#include "os/interrupt.h"
#include "os/parallel.h"

namespace kw::judge {
namespace {

constexpr int kSets = 2;  // contents must change between calls

}  // namespace

std::optional<record::Verdict> timing_verdict(const clock::MeasureOutcome& alone) {
  if (alone.status != ports::RunStatus::Completed) {
    return record::Crashed{fmt::format("while it was timed: {}: {}",
                                       ports::run_status_name(alone.status), alone.message),
                           std::nullopt, ""};
  }
  const auto& refused = alone.measurements[0].rejected;
  if (!refused) return std::nullopt;
  return rejected(record::Stage::Audit, *refused);
}

// Uses the gate's pool if it has the complete timed shape, otherwise a pool of that shape alone.
Status Timer::find_shape(timing::Lane& lane, size_t site) {
  timing::LaneShape& at = lane.shapes[site];
  if (at.shape) return Done{};
  const task::Dims& dims = context_.sites[site]->dims;
  const auto& cases = lane.pools.large->shapes().cases;
  const bool judged = std::ranges::any_of(
      cases, [&](const shapes::ShapeCase& shape) { return shape.dims == dims; });
  if (!judged) {
    context_.report_progress("drawing inputs of the timed shape");
    task::Task only = *context_.request.task;
    only.correctness_shapes = only.benchmark_shapes = {dims};
    shapes::ShapeLimits limits;
    limits.derive = limits.cut = false;
    shapes::ShapePlan plan = KW_TRY(shapes::plan_shapes(only, limits));
    gate::PoolOptions options;
    options.seed = context_.request.verify.seed;
    options.threads = context_.request.verify.threads;
    options.sets_per_shape = kSets;
    at.own_pool.emplace(KW_TRY(gate::Pool::make(*context_.request.task, *lane.tools.verify.oracle,
                                                std::move(plan), options, binding::secret_seed)));
  }
  gate::Pool& pool = judged ? *lane.pools.large : *at.own_pool;
  at.shape = KW_TRY(timing::timed_shape(pool, pool.task(), dims, kSets, binding::secret_seed));
  return Done{};
}

Result<record::Verdict> Timer::ready(timing::Lane& lane, const record::Candidate& candidate) {
  if (lane.shapes.front().ready.count(candidate.id) > 0) return record::Verdict(record::Passed{});
  record::Verdict verdict = record::Passed{};
  if (!verifier_.has_passed(lane, candidate.id))
    verdict = KW_TRY(verifier_.gate(lane, candidate)).gate.verdict;
  if (!record::passed(verdict)) return verdict;
  const kernel::Module module = KW_TRY(binding::parse_module(candidate.text, "module.cu"));
  timing::PrepareOptions options;
  options.fixed = context_.fixed_for(*lane.tools.verify.gpu, candidate);
  options.timeout_seconds = context_.request.verify.timeout_seconds;
  std::vector<std::unique_ptr<timing::TimedCandidate>> made(context_.sites.size());
  for (size_t i = 0; i < context_.sites.size(); ++i) {
    if (!timed_at(i)) continue;
    const Status found = find_shape(lane, i);
    if (!found && i == 0) return found.error();
    if (!found) {
      // If one further shape does not fit in memory, the other shapes still rank.
      const std::lock_guard lock(context_.mutex);
      context_.sites[i]->dropped = found.error().message;
      continue;
    }
    made[i] =
        KW_TRY(timing::prepare_candidate(module, *lane.shapes[i].shape, *lane.tools.verify.compiler,
                                         *lane.tools.verify.gpu, options));
    if (!made[i]->refused) continue;
    KW_TRY(context_.run.judged(candidate.id, record::to_json(*made[i]->refused)));
    return *made[i]->refused;
  }
  for (size_t i = 0; i < context_.sites.size(); ++i) {
    if (made[i]) lane.shapes[i].ready[candidate.id] = std::move(made[i]);
  }
  return verdict;
}

clock::MeasureOptions Timer::measure_options(const timing::TimedShape& shape,
                                             const std::vector<timing::TimedCandidate*>& timed,
                                             int effort) {
  clock::MeasureOptions options;
  options.protocol.seed = context_.seed + static_cast<uint64_t>(effort) * 7919;
  options.protocol.hash_seed = shape.hash_seed;
  options.protocol.timeout_seconds = context_.request.verify.timeout_seconds;
  options.protocol.warmup_seconds = 0.05;
  options.rule.min_samples = effort == 0 ? 10 : 20 * effort;
  options.rule.max_samples = effort == 0 ? 40 : 40 * effort;
  options.rule.max_seconds = effort == 0 ? 0.1 : 0.1 * effort;
  options.rule.relative_noise = effort == 0 ? 0.01 : 0.005;
  options.batch_samples = 20;
  for (const timing::TimedCandidate* one : timed) options.audits.push_back(one->audit);
  options.judge = [&shape, timed](size_t program,
                                  const ports::CopiedCall& call) -> std::optional<std::string> {
    const auto set = static_cast<size_t>(call.entry);
    if (call.entry < 0 || set >= shape.sets.size()) return "a timed call names unknown inputs";
    const auto wrong = timing::judge_outputs(shape, *timed[program], set, call.buffers);
    if (!wrong) return std::nullopt;
    return "the output of a timed call is wrong: " + wrong->reason;
  };
  return options;
}

Result<ports::Outcome> Timer::measure_one(timing::Lane& lane, const record::Candidate& candidate) {
  KW_TRY(os::check_interrupted());
  context_.report_progress("judging " + candidate.origin);
  const std::string reason = verdict_reason(KW_TRY(ready(lane, candidate)));
  if (!reason.empty()) return ports::Outcome::refusal(reason);
  for (size_t i = 0; i < context_.sites.size(); ++i) {
    if (!timed_at(i)) continue;
    const timing::LaneShape& at = lane.shapes[i];
    const std::vector<timing::TimedCandidate*> timed = {at.ready.at(candidate.id).get()};
    const clock::MeasureOutcome outcome = KW_TRY(clock::measure(
        *lane.tools.verify.gpu, {timed[0]->timed()}, measure_options(*at.shape, timed, 0)));
    if (const auto verdict = timing_verdict(outcome)) return context_.refuse(candidate, *verdict);
    KW_TRY(note_time(*context_.sites[i], candidate, "quick", outcome.measurements[0]));
  }
  return ports::Outcome::time(rank_measured(candidate.id));
}

Result<std::vector<ports::Outcome>> Timer::measure(const ports::Candidates& candidates) {
  for (const record::Candidate& candidate : candidates) context_.compile_for_gate(candidate);
  verifier_.await_truths();
  std::vector<std::optional<Result<ports::Outcome>>> looks(candidates.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&](timing::Lane& lane) {
    for (size_t i = next++; i < candidates.size() && !failed; i = next++) {
      looks[i].emplace(measure_one(lane, candidates[i]));
      if (!*looks[i]) failed = true;
    }
  };
  const auto& lanes = context_.lanes.all();
  os::parallel_for(static_cast<int>(lanes.size()), static_cast<int64_t>(lanes.size()),
                   [&](int, int64_t lane) { work(*lanes[static_cast<size_t>(lane)]); });
  std::vector<ports::Outcome> out;
  for (auto& look : looks) {
    if (look && !*look) return std::move(*look).error();
    if (look) out.push_back(std::move(**look));
  }
  if (out.size() != candidates.size()) return environment_error("interrupted");
  return out;
}

double Timer::rank_us(const clock::Measurement& measured) const {
  const double host = measured.samples.host_us;
  return context_.request.host_time && host > 0 ? host : measured.summary.median;
}

bool Timer::timed_at(size_t site) const {
  const std::lock_guard lock(context_.mutex);
  return context_.sites[site]->dropped.empty();
}

double Timer::rank_measured(const std::string& id) const {
  const std::lock_guard lock(context_.mutex);
  return context_.rank_of([&](const Site& site) {
    const auto at = site.times.find(id);
    return at == site.times.end() ? 0 : at->second;
  });
}

// Samples of the first shape are stored under `kind`, those of others also under their dims.
Status Timer::note_time(Site& site, const record::Candidate& candidate, const char* kind,
                        const clock::Measurement& measured) {
  {
    const std::lock_guard lock(context_.mutex);
    site.times[candidate.id] = rank_us(measured);
  }
  const bool reported = &site == &context_.first();
  Json json = Json::object();
  if (reported) json.set("us", measured.summary.median);
  if (const double rank = rank_measured(candidate.id); rank > 0) json.set("rank_us", rank);
  json.set(reported ? kind : fmt::format("{} at {}", kind, task::dims_text(site.dims)),
           to_json(measured));
  return context_.run.timed(candidate.id, json);
}

Result<bool> Timer::pair_at(timing::Lane& lane, size_t site, const ports::Candidates& candidates,
                            int effort, std::vector<ports::Outcome>& looks) {
  timing::LaneShape& at = lane.shapes[site];
  std::vector<timing::TimedCandidate*> timed;
  std::vector<ports::TimedProgram> programs;
  std::vector<size_t> owners;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!looks[i].refused.empty()) continue;
    timed.push_back(at.ready.at(candidates[i].id).get());
    programs.push_back(timed.back()->timed());
    owners.push_back(i);
  }
  if (programs.empty()) return true;
  context_.report_progress(fmt::format("timing {} candidates together", programs.size()));
  const clock::MeasureOutcome outcome = KW_TRY(
      clock::measure(*lane.tools.verify.gpu, programs, measure_options(*at.shape, timed, effort)));
  if (outcome.status != ports::RunStatus::Completed) return false;
  for (size_t k = 0; k < owners.size(); ++k) {
    const clock::Measurement& measured = outcome.measurements[k];
    const record::Candidate& candidate = candidates[owners[k]];
    if (measured.rejected) {
      looks[owners[k]] =
          KW_TRY(context_.refuse(candidate, rejected(record::Stage::Audit, *measured.rejected)));
      continue;
    }
    KW_TRY(note_time(*context_.sites[site], candidate, "paired", measured));
    KW_TRY(context_.run.timed(candidate.id,
                              Json::object().set("among", static_cast<int64_t>(owners.size()))));
  }
  return true;
}

Result<std::vector<ports::Outcome>> Timer::race(const ports::Candidates& candidates, int effort) {
  timing::Lane& lane = context_.lanes.first();
  // The first is the best and most likely certified next, so its images are compiled now.
  if (!candidates.empty()) context_.compile_whole(candidates.front());
  std::vector<ports::Outcome> looks(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    KW_TRY(os::check_interrupted());
    looks[i].refused = verdict_reason(KW_TRY(ready(lane, candidates[i])));
  }
  bool all = true;
  for (size_t i = 0; i < context_.sites.size() && all; ++i) {
    if (timed_at(i)) all = KW_TRY(pair_at(lane, i, candidates, effort, looks));
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!looks[i].refused.empty()) continue;
    // If the race failed, each candidate is timed alone to find the cause.
    if (all)
      looks[i] = ports::Outcome::time(rank_measured(candidates[i].id));
    else
      looks[i] = KW_TRY(measure_one(lane, candidates[i]));
  }
  return looks;
}

}  // namespace kw::judge
