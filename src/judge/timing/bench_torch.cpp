// The candidate must be compared with PyTorch under the same conditions. So both are timed inside
// the torch process, interleaved, by one clock, in three processes with three rounds each. A mode
// that fails gets a row with its reason. If it ends the process, every mode is timed once more in
// its own process, so one bad mode does not cost the others. Timing PyTorch by its own events was
// the alternative; two clocks cannot be compared. The cost: each process imports torch and compiles
// again, so the next one starts in the background.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/contains.h"
#include "gate/run_cell.h"
#include "metric/metric.h"
#include "ports/bound.h"
#include "timing/bench_session.h"
#include "verification/torch_reference.h"

namespace kw::timing {
namespace {

constexpr int kTorchWorkers = 3;
constexpr int kRounds = 3;  // of captures per process
constexpr int kQuickRounds = 2;
constexpr double kLockSeconds = 600;

/// "failed: the reference ran out of memory: …": only the row of that mode shows it.
std::string failed_text(const torch_worker::TorchOutcome& outcome) {
  return "failed: " + torch_worker::outcome_text(outcome);
}

/// The process died or is unusable because of one mode. The others may work alone.
bool lost(const torch_worker::TorchOutcome& outcome) {
  using torch_worker::TorchKind;
  return outcome.kind == TorchKind::Died || outcome.kind == TorchKind::OutOfMemory ||
         outcome.kind == TorchKind::TimedOut || outcome.kind == TorchKind::Garbled;
}

constexpr double kNormUnits = 16;  // roundings of the largest element

/// PyTorch may choose algorithms (Winograd, transforms) with an error relative to the largest
/// element: 2e-7 where the truth is 0. The baseline is timed, not judged as strictly as a
/// candidate.
bool right_by_norm(const ports::Truth& truth, const tensor::HostTensor& got) {
  if (!tensor::is_float(truth.dtype) || truth.exact) return false;
  double largest = 0, worst = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(truth.value.size()); ++i) {
    const double want = truth.value[static_cast<size_t>(i)];
    largest = std::max(largest, std::fabs(want));
    const double off = std::fabs(tensor::get_element(got, i) - want);
    if (!std::isfinite(off)) return false;
    worst = std::max(worst, off);
  }
  return worst <= kNormUnits * ports::unit_roundoff(truth.dtype) * largest;
}

}  // namespace

void BenchSession::judge_torch(const BaselineResult& result, TimedEntry& entry) {
  if (result.outputs.empty()) return;
  const std::vector<ports::Truth>& truths = shape_.sets[0]->truths;
  if (result.outputs.size() != truths.size()) {
    entry.wrong =
        fmt::format("it gives {} outputs instead of {}", result.outputs.size(), truths.size());
    return;
  }
  entry.wrong = "";
  for (size_t i = 0; i < truths.size() && entry.wrong->empty(); ++i) {
    const tensor::HostTensor& got = result.outputs[i].tensor;
    if (got.dtype != truths[i].dtype || got.shape != truths[i].shape) {
      entry.wrong = "its dtype or shape differs";
      return;
    }
    metric::CompareOptions options;
    options.precision = task_.precision;
    entry.wrong = metric::compare(truths[i], got, options).reason;
    if (entry.wrong->empty() || !right_by_norm(truths[i], got)) continue;
    const std::string note =
        fmt::format("{} is right relative to the largest element, not element by element: {}",
                    entry.name, *entry.wrong);
    if (!contains(report_.notes, note)) report_.notes.push_back(note);
    entry.wrong = "";
  }
}

Result<BaselineRequest> BenchSession::torch_request() const {
  const graph::Graph& graph = shape_.shape.graph;
  BaselineRequest ask;
  ask.call = KW_TRY(
      verification::torch_call(*shape_.task, shape_.shape.dims, graph, shape_.sets[0]->inputs));
  ask.call.device = "cuda";
  std::vector<const std::vector<tensor::HostTensor>*> sets;
  for (const gate::SetPtr& set : shape_.sets) sets.push_back(&set->inputs);
  ask.pool = verification::torch_pool(ask.call, graph, sets);
  ask.modes = request_.torch_modes;
  ask.uuid = report_.device.uuid;
  ask.lock_timeout_seconds = kLockSeconds;
  BaselineCandidate candidate{&ready_[0]->compiled, &ready_[0]->program, {}};
  candidate.pool = ready_[0]->inputs;
  ask.candidates = {candidate};
  return ask;
}

void BenchSession::note_mode(const BaselineResult& result, const ports::TimedResult& candidate,
                             int worker, TimedEntry& entry, std::vector<clock::Cycle>& cycles) {
  if (result.outcome.kind != torch_worker::TorchKind::Ok) {
    entry.problem = failed_text(result.outcome);
    return;
  }
  judge_torch(result, entry);
  entry.host_us.insert(entry.host_us.end(), result.host_us.begin(), result.host_us.end());
  if (!result.timed) return;
  cycles.push_back({worker, candidate.samples.microseconds, result.timed->samples.microseconds});
  clock::Measurement part;
  part.samples = result.timed->samples;
  part.batches = {part.samples.microseconds.size()};
  part.summary = clock::summarise(part.samples.microseconds);
  clock::extend(entry.measurement, part);
}

std::string BenchSession::note_round(const BaselineRound& round, int worker, size_t first,
                                     std::vector<std::vector<clock::Cycle>>& cycles) {
  std::string problem;
  if (round.status != ports::RunStatus::Completed) {
    problem = fmt::format("{}: {}", ports::run_status_name(round.status), round.message);
  } else if (auto mismatch =
                 clock::find_mismatch(ready_[0]->program, ready_[0]->audit, round.candidates[0])) {
    report_.candidate.problem = kAuditRefused;
    report_.candidate.verdict =
        record::Rejected{record::Stage::Audit, *mismatch + " (beside PyTorch)", std::nullopt, ""};
    problem = kAuditRefused;
  }
  for (size_t mode = 0; mode < cycles.size() && problem.empty(); ++mode) {
    note_mode(round.baselines[mode], round.candidates[0], worker, report_.rivals[first + mode],
              cycles[mode]);
  }
  return problem;
}

Result<BenchSession::TorchRun> BenchSession::torch_process(
    const BaselineRequest& ask, int worker, size_t first,
    std::vector<std::vector<clock::Cycle>>& cycles) {
  const BaselinesTimed timed = KW_TRY(tools_.baselines(ask));
  std::string problem;
  if (timed.outcome.kind != torch_worker::TorchKind::Ok) problem = failed_text(timed.outcome);
  for (const BaselineRound& round : timed.rounds) {
    if (problem.empty()) problem = note_round(round, worker, first, cycles);
  }
  if (problem.empty()) return TorchRun::Done;
  const bool gone = lost(timed.outcome);
  // Keep the results of earlier processes.
  if (gone && worker > 0)
    report_.notes.push_back(
        fmt::format("PyTorch's process {} {}: its times are those of the {} "
                    "before",
                    worker + 1, problem, worker));
  for (size_t mode = 0; mode < cycles.size() && !(gone && worker > 0); ++mode)
    report_.rivals[first + mode].problem = problem;
  return gone ? TorchRun::Lost : TorchRun::Refused;
}

// Exactly one process per mode. The mode that ends it gets the row that says so.
Status BenchSession::time_apart(const BaselineRequest& together, size_t first,
                                std::vector<std::vector<clock::Cycle>>& cycles) {
  for (size_t mode = 0; mode < together.modes.size(); ++mode) {
    KW_TRY(check_interrupt());
    report_progress("timing PyTorch, " + together.modes[mode] + " alone");
    if (tools_.renew_torch) tools_.renew_torch();
    BaselineRequest ask = together;
    ask.modes = {together.modes[mode]};
    report_.rivals[first + mode].problem.clear();
    std::vector<std::vector<clock::Cycle>> own(1);
    KW_TRY(torch_process(ask, 0, first + mode, own));
    cycles[mode] = std::move(own.front());
  }
  return Done{};
}

Status BenchSession::time_torch() {
  if (request_.torch_modes.empty()) return Done{};
  const auto start = std::chrono::steady_clock::now();
  const size_t first = report_.rivals.size();
  for (const std::string& mode : request_.torch_modes) {
    TimedEntry entry;
    entry.name = mode;
    entry.kind = "torch";
    if (!tools_.baselines) entry.problem = "there is no torch process";
    report_.rivals.push_back(std::move(entry));
  }
  if (!tools_.baselines) return Done{};
  Result<BaselineRequest> made = torch_request();
  if (!made) {
    for (size_t i = first; i < report_.rivals.size(); ++i)
      report_.rivals[i].problem = made.error().message;
    return Done{};
  }
  BaselineRequest ask = std::move(made).value();
  const clock::MeasureOptions options = measure_options(seed_);
  ask.protocol = options.protocol;
  ask.protocol.max_samples = options.batch_samples;
  ask.protocol.max_seconds = options.rule.max_seconds;
  std::vector<std::vector<clock::Cycle>> cycles(ask.modes.size());
  const int workers = request_.quick ? 1 : kTorchWorkers;
  TorchRun ran = TorchRun::Done;
  for (int worker = 0; worker < workers && ran == TorchRun::Done; ++worker) {
    if (worker > 0 && tools_.renew_torch) tools_.renew_torch();
    if (worker + 1 < workers && tools_.expect_torch) tools_.expect_torch();
    KW_TRY(check_interrupt());
    report_progress(fmt::format("timing PyTorch, process {} of {}", worker + 1, workers));
    ask.seeds.clear();
    for (int round = 0; round < (request_.quick ? kQuickRounds : kRounds); ++round)
      ask.seeds.push_back(seed_ + static_cast<uint64_t>(worker * kRounds + round) * 104729);
    ask.want_outputs = worker == 0;
    ran = KW_TRY(torch_process(ask, worker, first, cycles));
    if (ran == TorchRun::Lost && worker == 0 && ask.modes.size() > 1)
      KW_TRY(time_apart(ask, first, cycles));
  }
  for (size_t mode = 0; mode < ask.modes.size(); ++mode) {
    TimedEntry& entry = report_.rivals[first + mode];
    if (entry.measurement) entry.comparison = clock::compare(cycles[mode]);
  }
  report_.seconds.baselines =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return Done{};
}

}  // namespace kw::timing
