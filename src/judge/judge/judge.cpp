// All authors and searches must be judged by the same rules, so this is the only path. Screening is
// cheap and runs first; the gate and the clock run only for candidates that a search selects;
// certification repeats everything with fresh inputs for the winner. While candidates are screened
// on the CPU, compilers run ahead in workers and the GPUs compute the gate's truths. Every result
// goes to the run folder at once, so a killed run loses only the candidates in progress. Judging
// every candidate in full was the alternative; the gate and the clock take far longer than
// screening. Without a GPU times are estimates and are never called measured.
#include "judge/judge.h"

#include "judge/parts.h"

namespace kw::judge {

struct LocalJudge::Parts {
  Parts(const JudgeRequest& request, timing::Lanes& lanes, ports::Records& run,
        single_run::Progress progress)
      : context(request, lanes, run, std::move(progress)) {}

  JudgeContext context;
  Verifier verifier{context};
  Screener screener{context, verifier};
  Timer timer{context, verifier};
  Certifier certifier{context, verifier, screener, timer};
};

LocalJudge::LocalJudge(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
LocalJudge::~LocalJudge() = default;

Result<std::unique_ptr<LocalJudge>> LocalJudge::make(const JudgeRequest& request,
                                                     timing::Lanes& lanes, ports::Records& run,
                                                     single_run::Progress progress) {
  auto parts = std::make_unique<Parts>(request, lanes, run, std::move(progress));
  KW_TRY(parts->context.prepare());
  return std::unique_ptr<LocalJudge>(new LocalJudge(std::move(parts)));
}

bool LocalJudge::has_clock() const { return parts_->context.has_clock(); }
const JudgeRequest& LocalJudge::request() const { return parts_->context.request; }
const timing::BenchTools& LocalJudge::tools() const { return parts_->context.lanes.first().tools; }
const task::Dims& LocalJudge::dims() const { return parts_->context.first().dims; }
const clock::Work& LocalJudge::work() const { return parts_->context.first().work; }
const clock::Floor& LocalJudge::floor() const { return parts_->context.first().floor; }

const std::optional<Certificate>& LocalJudge::certificate() const {
  return parts_->certifier.certificate;
}
void LocalJudge::keep(Certificate certificate) {
  parts_->certifier.certificate = std::move(certificate);
}
const std::optional<verification::VerifyReport>& LocalJudge::last_refusal() const {
  return parts_->context.last_refusal;
}

double LocalJudge::rank_floor_us() const {
  return parts_->context.rank_of(
      [this](const Site& site) { return parts_->context.as_ranked(site.floor.us); });
}

std::string LocalJudge::ranked_by() const {
  const bool host = has_clock() || request().calibration->host_us > 0;
  const std::string seen = !request().host_time ? "time on the GPU"
                           : host               ? "host time, including launches"
                                  : "time on the GPU, including launches; host overhead is unknown "
                                    "without a GPU";
  return parts_->context.sites.size() > 1
             ? "the geometric mean over the benchmark shapes of " + seen
             : seen;
}

std::vector<ShapeTime> LocalJudge::shape_times(const std::string& id) const {
  std::vector<ShapeTime> list;
  for (const auto& site : parts_->context.sites) {
    ShapeTime one;
    one.dims = task::dims_text(site->dims);
    one.floor_us = parts_->context.as_ranked(site->floor.us);
    one.problem = site->dropped;
    const auto timed = site->times.find(id);
    const auto cost = site->costs.find(id);
    one.measured = timed != site->times.end();
    if (one.measured)
      one.us = timed->second;
    else if (cost != site->costs.end())
      one.us = parts_->context.as_ranked(cost->second.us);
    list.push_back(std::move(one));
  }
  return list;
}

const timing::Cost* LocalJudge::cost(const std::string& id) const {
  const auto at = parts_->context.first().costs.find(id);
  return at == parts_->context.first().costs.end() ? nullptr : &at->second;
}

std::vector<timing::CostLaunch> LocalJudge::counted(const std::string& id) const {
  const auto at = parts_->context.first().launches.find(id);
  return at == parts_->context.first().launches.end() ? std::vector<timing::CostLaunch>()
                                                      : at->second;
}

Result<std::vector<ports::Outcome>> LocalJudge::examine(const ports::Candidates& candidates,
                                                        ports::Depth depth) {
  if (depth == ports::Depth::Screen) return parts_->screener.screen(candidates);
  if (depth == ports::Depth::Time && has_clock()) return parts_->timer.measure(candidates);
  std::vector<ports::Outcome> out;
  for (const record::Candidate& candidate : candidates) {
    std::string refused;
    if (depth == ports::Depth::Verify || depth == ports::Depth::Time) {
      refused = verdict_reason(KW_TRY(verify(candidate)).gate.verdict);
    } else if (const Trial made = KW_TRY(trial(candidate, depth == ports::Depth::Run));
               !made.well) {
      refused = verdict_reason(made.verdict);
    }
    const bool estimated = depth == ports::Depth::Time && refused.empty();
    out.push_back(estimated ? KW_TRY(parts_->screener.screen({candidate})).front()
                            : ports::Outcome::refusal(refused));
  }
  return out;
}

Result<std::vector<ports::Outcome>> LocalJudge::race(const ports::Candidates& candidates,
                                                     const ports::RaceOptions& options) {
  return options.compare ? parts_->timer.compare(candidates, options.quick)
                         : parts_->timer.race(candidates, options.effort);
}

Result<ports::Outcome> LocalJudge::certify(const record::Candidate& candidate) {
  return parts_->certifier.certify(candidate);
}

Result<Trial> LocalJudge::trial(const record::Candidate& candidate, bool run) {
  return parts_->verifier.trial(candidate, run);
}

Result<verification::VerifyReport> LocalJudge::verify(const record::Candidate& candidate) {
  return parts_->verifier.verify(candidate);
}

Result<std::string> LocalJudge::code_of(const record::Candidate& candidate) {
  return parts_->verifier.code_of(candidate);
}

void LocalJudge::expect(const ports::Candidates& candidates) {
  parts_->verifier.expect(candidates);
}

}  // namespace kw::judge
