// All authors and searches must be judged by the same rules, so this is the only path. Screening is
// cheap and runs first; the gate and the clock run only for candidates that a search selects;
// certification repeats everything with fresh inputs for the winner. While candidates are screened
// on the CPU, compilers run ahead in workers and the GPUs compute the gate's truths. Every result
// goes to the run folder at once, so a killed run loses only the candidates in progress. Judging
// every candidate in full was the alternative; the gate and the clock take far longer than
// screening. Without a GPU times are estimates and are never called measured.
#include "judge/judge.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "binding/load.h"
#include "core/text.h"
#include "judge/judge_counting.h"
#include "kernel/methods.h"
#include "machine/best_image.h"
#include "os/entropy.h"
#include "os/interrupt.h"

namespace kw::judge {
namespace {

constexpr int kMostCompilers = 16;
constexpr int kWholeCompilers = 4;  // a winner has few images

}  // namespace

std::string verdict_reason(const record::Verdict& verdict) {
  struct Reason {
    std::string operator()(const record::Rejected& v) const {
      return fmt::format("rejected ({}): {}", record::stage_name(v.stage), v.reason);
    }
    std::string operator()(const record::Crashed& v) const { return "crashed: " + v.what; }
    std::string operator()(const record::Wrong& v) const { return "wrong: " + v.reason; }
    std::string operator()(const record::Passed&) const { return ""; }
    std::string operator()(const record::Unknown& v) const {
      return "unknown: " + v.missing_evidence;
    }
  };
  return std::visit(Reason(), verdict);
}

LocalJudge::LocalJudge(const JudgeRequest& request, timing::Lanes& lanes, ports::Records& run,
                       single_run::Progress progress)
    : request_(request), lanes_(lanes), run_(run), progress_(std::move(progress)) {}

LocalJudge::~LocalJudge() {
  truths_.clear();  // waits for them
  for (auto& lane : lanes_.all()) lane->tools.verify.compiler = inner_;
}

Result<std::unique_ptr<LocalJudge>> LocalJudge::make(const JudgeRequest& request,
                                                     timing::Lanes& lanes, ports::Records& run,
                                                     single_run::Progress progress) {
  std::unique_ptr<LocalJudge> judge(new LocalJudge(request, lanes, run, std::move(progress)));
  KW_TRY(judge->prepare());
  return judge;
}

Status LocalJudge::prepare() {
  inner_ = lanes_.first().tools.verify.compiler;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  // Only NVRTC's images can be joined reliably, so other compilers compile kernels together.
  const machine::Kernels how =
      inner_->name().starts_with("NVRTC") ? machine::Kernels::Apart : machine::Kernels::Together;
  ahead_ =
      std::make_unique<machine::AheadCompiler>(*inner_, std::clamp(cores, 1, kMostCompilers), how);
  whole_ = std::make_unique<machine::AheadCompiler>(*inner_, std::clamp(cores, 1, kWholeCompilers));
  for (auto& lane : lanes_.all()) lane->tools.verify.compiler = ahead_.get();
  const std::vector<task::Dims>& asked = request_.task->benchmark_shapes;
  searched_ = *request_.task;
  searched_.benchmark_shapes = asked.empty() ? std::vector{searched_.correctness_shapes.front()}
                               : request_.all_shapes ? asked
                                                     : std::vector{asked.front()};
  for (const task::Dims& dims : searched_.benchmark_shapes) {
    sites_.push_back(std::make_unique<Site>());
    KW_TRY(sites_.back()->choose(*request_.task, dims, *request_.calibration));
  }
  for (auto& lane : lanes_.all()) lane->shapes.resize(sites_.size());
  seed_ = request_.verify.seed ? *request_.verify.seed : KW_TRY(os::random_bits()) >> 1;
  return Done{};
}

const task::Dims& LocalJudge::dims() const { return first().dims; }
const clock::Work& LocalJudge::work() const { return first().work; }
const clock::Floor& LocalJudge::floor() const { return first().floor; }

// The host's overhead of an empty kernel is part of every kernel's host time.
double LocalJudge::as_ranked(double us) const {
  const record::Calibration& gpu = *request_.calibration;
  if (!request_.host_time || us <= 0 || gpu.host_us <= 0) return us;
  return gpu.host_us + std::max(0.0, us - gpu.launch_us);
}

double LocalJudge::rank_of(const std::function<double(const Site&)>& known) const {
  double logs = 0;
  int count = 0;
  for (const auto& site : sites_) {
    if (!site->dropped.empty()) continue;
    const double us = known(*site);
    if (us <= 0) return 0;
    logs += std::log(us);
    ++count;
  }
  // The mean of one value must be that value, to the last bit.
  return count == 1 ? known(first()) : std::exp(logs / count);
}

double LocalJudge::rank_floor_us() const {
  return rank_of([this](const Site& site) { return as_ranked(site.floor.us); });
}

std::string LocalJudge::ranked_by() const {
  const bool host = has_clock() || request_.calibration->host_us > 0;
  const std::string seen = !request_.host_time ? "time on the GPU"
                           : host              ? "what the host sees, launches included"
                                  : "time on the GPU, launches included; what the host adds is not "
                                    "known without one";
  return sites_.size() > 1 ? "the geometric mean over the benchmark shapes of " + seen : seen;
}

std::vector<ShapeTime> LocalJudge::shape_times(const std::string& id) const {
  std::vector<ShapeTime> list;
  for (const auto& site : sites_) {
    ShapeTime one;
    one.dims = task::dims_text(site->dims);
    one.floor_us = as_ranked(site->floor.us);
    one.problem = site->dropped;
    const auto timed = site->times.find(id);
    const auto cost = site->costs.find(id);
    one.measured = timed != site->times.end();
    if (one.measured)
      one.us = timed->second;
    else if (cost != site->costs.end())
      one.us = as_ranked(cost->second.us);
    list.push_back(std::move(one));
  }
  return list;
}

Result<std::vector<ports::Outcome>> LocalJudge::examine(const ports::Candidates& candidates,
                                                        ports::Depth depth) {
  if (depth == ports::Depth::Screen) return screen(candidates);
  if (depth == ports::Depth::Time && has_clock()) return measure(candidates);
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
    out.push_back(estimated ? KW_TRY(screen({candidate})).front()
                            : ports::Outcome::refusal(refused));
  }
  return out;
}

void LocalJudge::report_progress(const std::string& what) const {
  const std::lock_guard lock(mutex_);
  if (progress_) progress_(what);
}

bool LocalJudge::has_clock() const { return lanes_.has_gpu(); }

kernel::Bindings LocalJudge::fixed_for(const ports::Device& device,
                                       const record::Candidate& candidate) const {
  const ports::DeviceInfo info = device.info();
  kernel::Bindings fixed;
  const auto target =
      arch::find_target(request_.verify.target.empty() ? info.target : request_.verify.target);
  if (target) fixed.target = *target;
  fixed.sms = info.sms;
  fixed.l2_bytes = info.l2_bytes;
  fixed.tunes = candidate.tunes;
  return fixed;
}

verification::VerifyRequest LocalJudge::verify_request(const record::Candidate& candidate) const {
  verification::VerifyRequest request = request_.verify;
  request.module_path = run_.module_path(candidate.id);
  request.tunes = candidate.tunes;
  for (const auto& [name, value] : candidate.tunes) {
    request.task_options.emplace_back("--tune");
    request.task_options.push_back(fmt::format("{}={}", name, value));
  }
  return request;
}

Result<ports::Outcome> LocalJudge::refuse(const record::Candidate& candidate,
                                          const record::Verdict& verdict) {
  KW_TRY(run_.judged(candidate.id, record::to_json(verdict)));
  return ports::Outcome::refusal(verdict_reason(verdict));
}

// An error here appears again at the gate, which reports it.
void LocalJudge::begin_truths() {
  if (truths_begun_ || !has_clock()) return;
  truths_begun_ = true;
  for (auto& lane : lanes_.all()) {
    truths_.push_back(std::async(std::launch::async, [this, at = lane.get()] {
      if (!verification::open_pools(searched_, request_.verify, at->tools.verify, at->pools))
        return;
      for (gate::Pool* pool : {&*at->pools.small, &*at->pools.large})
        if (!pool->prepare([] { return os::interrupted(); })) return;
    }));
  }
}

void LocalJudge::await_truths() {
  for (std::future<void>& made : truths_) made.get();
  truths_.clear();
}

Result<std::vector<ports::Outcome>> LocalJudge::measure(const ports::Candidates& candidates) {
  for (const record::Candidate& candidate : candidates) {
    compile_ahead(*ahead_, candidate, ports::ImageKind::Ptx, Wanted::All);
    compile_ahead(*ahead_, candidate, lanes_.first().tools.verify.gpu->info().image, Wanted::All);
  }
  await_truths();
  std::vector<std::optional<Result<ports::Outcome>>> looks(candidates.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&](timing::Lane& lane) {
    for (size_t i = next++; i < candidates.size() && !failed; i = next++) {
      looks[i].emplace(measure_one(lane, candidates[i]));
      if (!*looks[i]) failed = true;
    }
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < lanes_.all().size(); ++i)
    others.emplace_back([&, i] { work(*lanes_.all()[i]); });
  work(lanes_.first());
  for (std::thread& thread : others) thread.join();
  std::vector<ports::Outcome> out;
  for (auto& look : looks) {
    if (look && !*look) return std::move(*look).error();
    if (look) out.push_back(std::move(**look));
  }
  if (out.size() != candidates.size()) return environment_error("interrupted");
  return out;
}

void LocalJudge::compile_whole(const record::Candidate& candidate) {
  record::Candidate shipped = candidate;
  shipped.text = kernel::with_tunes(candidate.text, candidate.tunes);
  compile_ahead(*whole_, shipped, ports::ImageKind::Ptx, Wanted::All);
  compile_ahead(*whole_, shipped, ports::ImageKind::Cubin,
                has_clock() ? Wanted::All : Wanted::Timed);
}

Result<ports::Outcome> LocalJudge::certify(const record::Candidate& candidate) {
  KW_TRY(os::check_interrupted());
  report_progress("certifying " + candidate.origin);
  timing::BenchRequest request;
  request.verify = verify_request(candidate);
  request.dims = dims();
  request.torch_modes = request_.torch_modes;
  Certificate made;
  made.id = candidate.id;
  made.text = kernel::with_tunes(candidate.text, candidate.tunes);
  request.quick = request_.quick;
  timing::Lane& lane = lanes_.first();
  await_truths();
  compile_whole(candidate);
  timing::BenchTools tools = lane.tools;
  tools.verify.compiler = whole_.get();
  tools.pools = &lane.pools;
  tools.shape = lane.shapes.front().shape ? &*lane.shapes.front().shape : nullptr;
  made.bench = KW_TRY(timing::bench_module(made.text, *request_.task, request, tools, progress_));
  KW_TRY(run_.judged(candidate.id, to_json(made.bench.gate)));
  if (made.bench.candidate.measurement) {
    Json timing = Json::object();
    timing.set("us", made.bench.candidate.measurement->summary.median);
    KW_TRY(run_.timed(candidate.id, timing.set("certified", to_json(made.bench))));
  }
  const std::string reason = verdict_reason(made.bench.verdict);
  if (!reason.empty()) {
    last_refusal_ = std::move(made.bench.gate);
    return ports::Outcome::refusal(reason);
  }
  KW_TRY(note_resources(candidate, made));
  ports::Outcome outcome =
      ports::Outcome::estimate(made.bench.estimate ? made.bench.estimate->us : 0, false);
  if (made.bench.candidate.measurement) {
    first().times[candidate.id] = rank_us(*made.bench.candidate.measurement);
    outcome = ports::Outcome::time(rank_measured(candidate.id));
  }
  certificate_ = std::move(made);
  return outcome;
}

// Compiles the images that are shipped, which are the judged ones, and notes their resources.
Status LocalJudge::note_resources(const record::Candidate& candidate, Certificate& certificate) {
  // A resumed run has stored estimates but no counts.
  if (first().launches.count(candidate.id) == 0) KW_TRY(screen_one(candidate));
  if (const auto cost = first().costs.find(candidate.id); cost != first().costs.end())
    certificate.cost = cost->second;
  const kernel::Module module = KW_TRY(binding::parse_module(certificate.text, "module.cu"));
  ports::Device& device = *lanes_.first().tools.verify.virtual_gpu;
  const auto request = first().compile_request(module, fixed_for(device, candidate),
                                               request_.verify.timeout_seconds);
  if (!request) return Done{};
  ports::CompileRequest ask = *request;
  ask.image = ports::ImageKind::Ptx;
  ports::CompileOutcome ptx = KW_TRY(whole_->compile(ask));
  certificate.ptx = std::move(ptx.compiled);
  machine::BestImage image(*whole_, ports::ImageKind::Cubin);
  const auto cubin = image.compile(ask);
  if (!cubin || !cubin->compiled || cubin->compiled->kind != ports::ImageKind::Cubin) return Done{};
  certificate.cubin = cubin->compiled;
  for (const ports::CompiledKernel& kernel : certificate.cubin->kernels)
    certificate.resources.push_back(kernel.resources);
  const auto known = KW_TRY(with_registers(first(), candidate));
  if (known && !known->cost.launches.empty())
    certificate.occupancy =
        std::ranges::max_element(known->cost.launches, {}, &timing::CostPart::us)->occupancy;
  return Done{};
}

}  // namespace kw::judge
