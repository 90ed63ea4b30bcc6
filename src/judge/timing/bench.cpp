// A time is worth nothing for a kernel that is wrong, or wrong only while it is timed. So bench
// verifies first, judges again at the timed shape, and audits outputs of timed calls. Programs are
// timed interleaved, so drift of the clock rate affects all alike, in three worker processes,
// because a time also depends on its process. A time below what the hardware allows is measured
// again with more audits. One long measurement was the alternative; it repeats the same systematic
// error. The cost is seconds per candidate; `quick` uses one worker and fewer samples for searches.
#include "timing/bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "arch/arch.h"
#include "binding/inputs.h"
#include "binding/load.h"
#include "gate/programs.h"
#include "os/entropy.h"
#include "os/files.h"
#include "os/interrupt.h"
#include "timing/bench_session.h"

namespace kw::timing {
namespace {

using Clock = std::chrono::steady_clock;
using ports::RunStatus;

constexpr int kWorkers = 3;  // for a certification
constexpr int kFullSets = 4;
constexpr int kQuickSets = 2;
constexpr uint64_t kMostModuleBytes = uint64_t{1} << 20;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool can_be_compared(const TimedEntry& entry) {
  return entry.comparison && entry.wrong.value_or("").empty() && entry.comparison->pairs > 0;
}

}  // namespace

const TimedEntry* BenchReport::best_rival() const {
  const TimedEntry* best = nullptr;
  for (const TimedEntry& rival : rivals) {
    if (!can_be_compared(rival)) continue;
    if (best == nullptr || rival.comparison->speedup < best->comparison->speedup) best = &rival;
  }
  return best;
}

BenchSession::BenchSession(const task::Task& task, const BenchRequest& request,
                           const BenchTools& tools, const single_run::Progress& progress)
    : task_(task),
      request_(request),
      tools_(tools),
      progress_(progress),
      pools_(request.quick && tools.pools != nullptr ? *tools.pools : fresh_) {}

void BenchSession::report_progress(const std::string& what) const {
  if (progress_) progress_(what);
}

Status BenchSession::check_interrupt() const { return os::check_interrupted(); }

Status BenchSession::choose_dims() {
  report_.dims = request_.dims;
  if (!report_.dims.empty()) return Done{};
  if (!task_.benchmark_shapes.empty()) {
    report_.dims = task_.benchmark_shapes.front();
  } else if (!task_.correctness_shapes.empty()) {
    report_.dims = task_.correctness_shapes.front();
  }
  return Done{};
}

Status BenchSession::draw_own_pool(int sets) {
  report_progress("drawing inputs of the timed shape");
  task::Task only = task_;
  only.correctness_shapes = only.benchmark_shapes = {report_.dims};
  shapes::ShapeLimits limits;
  limits.derive = limits.cut = false;
  shapes::ShapePlan plan = KW_TRY(shapes::plan_shapes(only, limits));
  gate::PoolOptions options;
  options.seed = request_.verify.seed;
  options.threads = request_.verify.threads;
  options.sets_per_shape = sets;
  own_pool_.emplace(KW_TRY(gate::Pool::make(task_, *tools_.verify.oracle, std::move(plan), options,
                                            binding::secret_seed)));
  return Done{};
}

Status BenchSession::find_shape() {
  if (request_.quick && tools_.shape != nullptr) {
    shape_ = *tools_.shape;
    report_.work = shape_.work;
    report_.pool = static_cast<int>(shape_.sets.size());
    return Done{};
  }
  const int sets = request_.quick ? kQuickSets : kFullSets;
  const auto& cases = pools_.large->shapes().cases;
  const bool judged = std::any_of(cases.begin(), cases.end(), [&](const shapes::ShapeCase& shape) {
    return shape.dims == report_.dims;
  });
  // The gate may have judged a smaller shape instead.
  if (!judged) KW_TRY(draw_own_pool(sets));
  gate::Pool& pool = judged ? *pools_.large : *own_pool_;
  shape_ = KW_TRY(timed_shape(pool, pool.task(), report_.dims, sets, binding::secret_seed));
  report_.work = shape_.work;
  report_.pool = static_cast<int>(shape_.sets.size());
  return Done{};
}

Result<bool> BenchSession::admit(const std::string& text, const std::string& path,
                                 TimedEntry& entry) {
  entry.name = path.substr(path.rfind('/') + 1);
  verification::VerifyRequest verify = request_.verify;
  verify.module_path = path;
  verification::VerifyReport judged =
      KW_TRY(verification::verify_module(text, task_, verify, tools_.verify, progress_, &pools_));
  const bool first = entry.kind == "candidate";
  report_.seconds.gate += first ? judged.gate.seconds : 0;
  entry.verdict = judged.gate.verdict;
  const bool passed = record::passed(judged.gate.verdict);
  const std::string compiler = judged.gate.compiler;
  if (first) report_.gate = std::move(judged);
  if (!passed || tools_.verify.gpu == nullptr) return passed;
  const kernel::Module module = KW_TRY(binding::parse_module(text, entry.name));
  if (first) KW_TRY(find_shape());
  report_progress("judging " + entry.name + " at the timed shape");
  const auto start = Clock::now();
  PrepareOptions options;
  options.fixed = fixed_;
  options.timeout_seconds = verify.timeout_seconds;
  options.repro = gate::Repro{path, verify.reference_path, verify.task_options}.line();
  std::unique_ptr<TimedCandidate> ready = KW_TRY(
      prepare_candidate(module, shape_, *tools_.verify.compiler, *tools_.verify.gpu, options));
  if (first) report_.seconds.gate += since(start);
  if (ready->refused) {
    entry.verdict = ready->refused;
    return false;
  }
  if (first) report_.compiler = ready->compiled.compiler;
  if (first) report_.deterministic = ready->audit.deterministic;
  ready_.push_back(std::move(ready));
  return true;
}

Status BenchSession::admit_rivals() {
  for (const std::string& path : request_.modules) {
    TimedEntry entry;
    entry.kind = "module";
    const std::string text = KW_TRY(os::read_file(path, kMostModuleBytes));
    const bool admitted = KW_TRY(admit(text, path, entry));
    if (!admitted) entry.problem = "it did not pass";
    report_.rivals.push_back(std::move(entry));
    if (admitted) owners_.push_back(report_.rivals.size());
  }
  return Done{};
}

TimedEntry& BenchSession::entry_of(size_t program) {
  const size_t owner = owners_[program];
  return owner == 0 ? report_.candidate : report_.rivals[owner - 1];
}

std::optional<std::string> BenchSession::judge_call(size_t program,
                                                    const ports::CopiedCall& call) const {
  const TimedCandidate& candidate = *ready_[program];
  const auto set = static_cast<size_t>(call.entry);
  if (call.entry < 0 || set >= shape_.sets.size()) return "a timed call names unknown inputs";
  const auto wrong = judge_outputs(shape_, candidate, set, call.buffers);
  if (!wrong) return std::nullopt;
  return "the output of a timed call is wrong: " + wrong->reason;
}

clock::MeasureOptions BenchSession::measure_options(uint64_t seed) const {
  clock::MeasureOptions options;
  options.protocol.seed = seed;
  options.protocol.hash_seed = shape_.hash_seed;
  options.protocol.timeout_seconds = request_.verify.timeout_seconds;
  if (request_.quick) {
    options.rule.max_samples = 40;
    options.rule.max_seconds = 0.1;
    options.rule.relative_noise = 0.01;
    options.batch_samples = 20;
    options.protocol.warmup_seconds = 0.05;
  }
  for (const auto& ready : ready_) options.audits.push_back(ready->audit);
  options.judge = [this](size_t program, const ports::CopiedCall& call) {
    return judge_call(program, call);
  };
  return options;
}

Status BenchSession::time_worker(int worker, const std::vector<ports::TimedProgram>& programs) {
  clock::MeasureOptions options = measure_options(seed_ + static_cast<uint64_t>(worker) * 7919);
  // A comparison needs enough pairs, even if each program has little noise.
  if (programs.size() > 1) options.rule.min_samples = request_.quick ? 40 : 80;
  clock::MeasureOutcome outcome = KW_TRY(clock::measure(*tools_.verify.gpu, programs, options));
  if (outcome.status != RunStatus::Completed) {
    report_.candidate.problem =
        fmt::format("{}: {}", ports::run_status_name(outcome.status), outcome.message);
    report_.verdict =
        record::Crashed{"while it was timed: " + report_.candidate.problem, std::nullopt, ""};
    return Done{};
  }
  for (size_t i = 1; i < ready_.size(); ++i) {
    for (clock::Cycle& cycle :
         clock::cycles_of(outcome.measurements[0], outcome.measurements[i], worker))
      cycles_[i].push_back(std::move(cycle));
  }
  for (size_t i = 0; i < ready_.size(); ++i)
    clock::extend(entry_of(i).measurement, outcome.measurements[i]);
  return Done{};
}

Status BenchSession::time_modules() {
  const auto start = Clock::now();
  std::vector<ports::TimedProgram> programs;
  for (const auto& ready : ready_) programs.push_back(ready->timed());
  cycles_.assign(ready_.size(), {});
  const int workers = request_.quick ? 1 : kWorkers;
  for (int worker = 0; worker < workers && report_.candidate.problem.empty(); ++worker) {
    KW_TRY(check_interrupt());
    report_progress(fmt::format("timing, process {} of {}", worker + 1, workers));
    if (!request_.quick && tools_.renew) tools_.renew();
    KW_TRY(time_worker(worker, programs));
    report_.workers = worker + 1;
    const auto& measured = report_.candidate.measurement;
    if (measured && measured->rejected) break;
  }
  report_.seconds.timing = since(start);
  for (size_t i = 1; i < ready_.size(); ++i) entry_of(i).comparison = clock::compare(cycles_[i]);
  for (size_t i = 0; i < ready_.size(); ++i) {
    TimedEntry& entry = entry_of(i);
    if (!entry.measurement || !entry.measurement->rejected) continue;
    entry.verdict =
        record::Rejected{record::Stage::Audit, *entry.measurement->rejected, std::nullopt, ""};
    entry.problem = kAuditRefused;
    entry.comparison.reset();
  }
  return Done{};
}

Status BenchSession::time_again() {
  const auto& measured = report_.candidate.measurement;
  if (!measured || measured->rejected) return Done{};
  const std::string why =
      clock::implausible(report_.work, measured->summary.median, report_.device);
  if (why.empty()) return Done{};
  report_progress("measuring again: the time seems too short");
  if (tools_.renew) tools_.renew();
  clock::MeasureOptions options = measure_options(seed_ ^ 0x5eed);
  options.audits.resize(1);
  // Outputs are copied and judged too, so the result does not depend on hashes alone.
  options.audits[0].deterministic = false;
  options.judged_per_batch = 4;
  const clock::MeasureOutcome outcome =
      KW_TRY(clock::measure(*tools_.verify.gpu, {ready_[0]->timed()}, options));
  if (outcome.status != RunStatus::Completed) {
    report_.notes.push_back("it seems too fast, and could not be measured again: " + why);
    return Done{};
  }
  const clock::Measurement& again = outcome.measurements[0];
  if (again.rejected) {
    report_.candidate.measurement->rejected = again.rejected;
    report_.candidate.problem = kAuditRefused;
    report_.candidate.verdict =
        record::Rejected{record::Stage::Audit, *again.rejected, std::nullopt, ""};
    return Done{};
  }
  report_.notes.push_back(
      fmt::format("implausibly fast: {}. Measured again: {:.2f} us, {} calls audited and {} "
                  "judged, all right; the time is kept, because no evidence contradicts it",
                  why, again.summary.median, again.audited, again.judged));
  return Done{};
}

Status BenchSession::ask_profiler() {
  const auto& measured = report_.candidate.measurement;
  if (request_.quick || !measured || measured->rejected) return Done{};
  report_progress("measuring with the profiling library");
  ports::TimeProtocol protocol = measure_options(seed_).protocol;
  protocol.max_samples = 4;
  protocol.span = true;
  if (tools_.renew) tools_.renew();
  const auto timed = tools_.verify.gpu->time({ready_[0]->timed()}, protocol);
  // This worker has a profiler loaded, so no later time may come from it.
  if (tools_.renew) tools_.renew();
  if (!timed || timed->status != RunStatus::Completed) return check_interrupt();
  const double span = timed->results.at(0).samples.span_us;
  if (span <= 0) return Done{};
  report_.candidate.measurement->samples.span_us = span;
  const double us = measured->summary.median;
  const double most =
      std::max(0.02 * span, static_cast<double>(ready_[0]->program.launches.size()));
  if (std::abs(us - span) > most) {
    report_.notes.push_back(fmt::format(
        "the profiling library sees {:.2f} us from first start to last end, the clock {:.2f} us: "
        "they differ by more than 2 % and 1 us per launch",
        span, us));
  }
  return Done{};
}

Status BenchSession::calibrate() {
  const auto start = Clock::now();
  report_progress("calibrating " + report_.device.name);
  Result<CalibrationReport> calibration =
      calibration_of(report_.device, tools_.calibrate, Freshness::Kept);
  if (calibration) {
    report_.calibration = std::move(calibration).value();
    report_.floor = clock::floor_of(report_.work, report_.calibration->calibration);
  } else {
    KW_TRY(check_interrupt());
    report_.notes.push_back("no floor: " + calibration.error().message);
  }
  report_.seconds.calibration = since(start);
  return Done{};
}

Status BenchSession::estimate_without_gpu(const kernel::Module& module) {
  ports::Device& vgpu = *tools_.verify.virtual_gpu;
  const shapes::ShapePlan& plan = pools_.small->shapes();
  const shapes::ShapeCase* best = nullptr;
  for (const shapes::ShapeCase& shape : plan.cases) {
    if (shape.dims == report_.dims) best = &shape;
    if (best == nullptr ||
        (best->dims != report_.dims && shape.demanded && shape.work > best->work))
      best = &shape;
  }
  if (best == nullptr) return Done{};
  shapes::Matching matching = KW_TRY(shapes::match_tensors(module, task_, best->graph));
  gate::Programs programs(module, *tools_.verify.compiler, vgpu, fixed_,
                          request_.verify.timeout_seconds);
  const gate::Built built = KW_TRY(programs.build(matching, task_, best->graph, best->dims));
  if (!built.ready) return Done{};
  const auto index = static_cast<size_t>(best - plan.cases.data());
  const gate::SetPtr set = KW_TRY(pools_.small->make_set(index, "normal", 1));
  ports::RunOptions options;
  options.counters = true;
  options.threads = request_.verify.threads;
  options.timeout_seconds = request_.verify.timeout_seconds;
  const ports::RunOutcome outcome =
      KW_TRY(vgpu.run(built.ready->image, built.ready->program,
                      gate::program_inputs(built.ready->program, matching, set->inputs), options));
  record::CounterValues total;
  for (const record::LaunchCounters& launch : outcome.counters) total += launch.total;
  const graph::Graph whole = KW_TRY(task_.graph_at(report_.dims));
  const double scale = best->work > 0 ? shapes::work_of(whole) / best->work : 1;
  report_.work = work_at(task_, whole);
  report_.estimate = estimate(total, outcome.counters.size(), report_.work, scale);
  report_.estimate->counted_at = task::dims_text(best->dims);
  return Done{};
}

Result<BenchReport> BenchSession::run(const std::string& module_text) {
  report_.quick = request_.quick;
  report_.replay_seeded = request_.verify.seed.has_value();
  ports::Device& where =
      tools_.verify.gpu != nullptr ? *tools_.verify.gpu : *tools_.verify.virtual_gpu;
  report_.device = where.info();
  KW_TRY(choose_dims());
  report_.target = request_.verify.target.empty() ? report_.device.target : request_.verify.target;
  fixed_.target = KW_TRY(arch::find_target(report_.target));
  fixed_.sms = report_.device.sms;
  fixed_.l2_bytes = report_.device.l2_bytes;
  fixed_.tunes = request_.verify.tunes;
  for (const auto& [name, value] : fixed_.tunes)
    report_.flags.push_back(fmt::format("{}={}", name, value));
  seed_ = request_.verify.seed ? *request_.verify.seed : KW_TRY(binding::secret_seed());
  report_.candidate.kind = "candidate";
  const bool several = !request_.quick && !request_.torch_modes.empty();
  if (several && tools_.expect_torch) tools_.expect_torch();
  const bool admitted = KW_TRY(admit(module_text, request_.verify.module_path, report_.candidate));
  report_.seconds.prepare = report_.gate.gate.prepare_seconds;
  report_.verdict = *report_.candidate.verdict;
  if (!admitted) return std::move(report_);
  if (tools_.verify.gpu == nullptr) {
    const kernel::Module module =
        KW_TRY(binding::parse_module(module_text, report_.candidate.name));
    report_.candidate.problem = "no GPU was used";
    KW_TRY(estimate_without_gpu(module));
    return std::move(report_);
  }
  owners_ = {0};
  KW_TRY(admit_rivals());
  KW_TRY(calibrate());
  KW_TRY(time_modules());
  KW_TRY(time_again());
  KW_TRY(ask_profiler());
  if (report_.candidate.problem.empty()) KW_TRY(time_torch());
  if (report_.candidate.problem == kAuditRefused) report_.verdict = *report_.candidate.verdict;
  return std::move(report_);
}

Result<BenchReport> bench_module(const std::string& module_text, const task::Task& task,
                                 const BenchRequest& request, const BenchTools& tools,
                                 const single_run::Progress& progress) {
  return BenchSession(task, request, tools, progress).run(module_text);
}

}  // namespace kw::timing
