#include "engine/workshop.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/hash.h"
#include "engine/bench_tools.h"
#include "engine/devices.h"
#include "engine/evidence.h"
#include "engine/evidence_build.h"
#include "engine/judge.h"
#include "engine/lanes.h"
#include "engine/load_reference.h"
#include "engine/probes.h"
#include "engine/verify_tools.h"
#include "os/files.h"
#include "os/scratch.h"
#include "store/run.h"

namespace kw::engine {
namespace {

constexpr size_t kMostTogether = 8;  // on the clock at full length
constexpr size_t kCopies = 4;        // of one kernel, to learn the noise
constexpr const char* kTools[] = {"nvdisasm", "cuobjdump", "ncu", "ncu-counters"};

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// The first against another, turned round: how the other stands to the first.
optimize::Ratio ratio_of(const bench::Comparison& first) {
  optimize::Ratio ratio;
  ratio.value = 1 / first.speedup;
  ratio.low = first.high > 0 ? 1 / first.high : 0;
  ratio.high = first.low > 0 ? 1 / first.low : 0;
  bench::Relation other = first.relation;
  if (other == bench::Relation::Faster)
    other = bench::Relation::Slower;
  else if (other == bench::Relation::Slower)
    other = bench::Relation::Faster;
  ratio.relation = bench::relation_name(other);
  return ratio;
}

exec::Candidates as_candidates(const std::vector<std::string>& kernels) {
  exec::Candidates out;
  for (size_t i = 0; i < kernels.size(); ++i) {
    out.push_back(record::make_candidate(kernels[i], {}, "optimize",
                                         fmt::format("kernel {} of {}", i + 1, kernels.size())));
  }
  return out;
}

optimize::Raced raced(const Racer& racer) {
  optimize::Raced out;
  out.verdict = record::verdict_name(racer.verdict);
  out.passed = record::passed(racer.verdict);
  out.problem = out.passed ? racer.problem : verdict_reason(racer.verdict);
  out.details = Json::object();
  out.details.set("verdict", record::to_json(racer.verdict));
  if (racer.gate) out.details.set("gate", to_json(*racer.gate));
  if (racer.measurement) {
    out.us = racer.measurement->summary.median;
    out.measured = true;
    out.samples_us = racer.measurement->samples.microseconds;
    out.details.set("timing", to_json(*racer.measurement));
  }
  if (racer.comparison) {
    out.ratio = ratio_of(*racer.comparison);
    out.details.set("first_against_this", to_json(*racer.comparison));
  }
  return out;
}

/// Where the judge keeps what it judged: the folder that was named, or one that goes away.
struct Keeping {
  std::optional<os::ScratchFolder> passing;
  std::optional<store::Run> run;

  Status open(const WorkshopRequest& request, const task::Task& task) {
    std::string folder = request.folder;
    if (folder.empty()) {
      passing.emplace(KW_TRY(os::ScratchFolder::make("compile")));
      folder = passing->path() + "/judged";
    }
    if (os::exists(folder + "/run.json")) {
      run.emplace(KW_TRY(store::Run::open(folder, store::Access::Write)));
      return Done{};
    }
    store::RunInputs inputs;
    inputs.name = task.name;
    inputs.reference = task.source;
    inputs.spec = task::to_json(task);
    run.emplace(KW_TRY(store::Run::create({"", folder}, inputs)));
    return Done{};
  }
};

class EngineWorkshop : public TaskWorkshop {
 public:
  EngineWorkshop(WorkshopRequest request, Progress progress)
      : request_(std::move(request)), progress_(std::move(progress)) {}

  Status open();

  const task::Task& task() const override { return *task_; }
  const task::Dims& dims() const override { return judge_->dims(); }
  const std::string& no_gpu() const override { return machine_->no_gpu(); }
  Json environment() override;
  std::string target() const override;
  std::string task_hash() const override;
  std::string task_name() const override { return task_->name; }
  bool measures() const override { return judge_->measures(); }
  Result<std::vector<exec::Look>> screen(const std::vector<std::string>& kernels) override;
  void expect(const std::vector<std::string>& kernels) override {
    judge_->expect(as_candidates(kernels));
  }
  Result<std::string> code_of(const std::string& kernel) override;
  Result<std::vector<optimize::Raced>> race(const std::vector<std::string>& kernels) override;
  Result<std::optional<optimize::Noise>> noise(const std::string& kernel) override;
  Result<profile::Examined> examine(const std::string& kernel, std::optional<double> us,
                                     const std::string& report) override;
  Result<std::optional<std::vector<profile::SassFunction>>> machine_code(
      const std::string& kernel) override;

 private:
  void tell(const std::string& what) const;
  Status read_task();
  Status open_machine();
  Status open_judge();
  const exec::Device& device() const;
  EvidenceRequest evidence_request(const std::string& kernel) const;
  /// Judged on the virtual GPU and estimated.
  Result<optimize::Raced> judged(const record::Candidate& candidate);
  Result<std::vector<Racer>> timed(const exec::Candidates& candidates);
  Result<std::vector<optimize::Raced>> raced_once(const exec::Candidates& candidates);

  WorkshopRequest request_;
  Progress progress_;
  std::shared_ptr<oracle::TorchProcess> torch_;
  std::optional<task::Task> task_;
  std::shared_ptr<BenchMachine> machine_;
  BenchTools tools_;
  std::unique_ptr<Lanes> lanes_;
  record::Calibration calibration_;
  bool calibrated_ = false;
  Keeping keeping_;
  std::unique_ptr<Judge> judge_;
  std::map<std::string, optimize::Raced> judged_;  // by id, where nothing is timed
  std::vector<std::string> notes_;
};

void EngineWorkshop::tell(const std::string& what) const {
  if (progress_) progress_(what);
}

Status EngineWorkshop::open() {
  tell("reading the reference");
  KW_TRY(read_task());
  KW_TRY(open_machine());
  return open_judge();
}

Status EngineWorkshop::read_task() {
  if (request_.reference.empty())
    return input_error("optimize wants --reference REF: a Python file or a task folder");
  torch_ = open_torch();
  task_.emplace(KW_TRY(load_reference(
      {request_.reference, request_.function, request_.inputs, request_.dims, torch_})));
  notes_ = task_->notes;
  return read_precision(request_.precision, task_->precision);
}

Status EngineWorkshop::open_machine() {
  BenchOpenRequest open;
  open.device = request_.device;
  open.target = request_.target == "auto" ? "" : request_.target;
  open.compiler = request_.compiler;
  open.patience_seconds = request_.patience_seconds;
  open.notice = progress_;
  std::string note;
  machine_ = KW_TRY(fitting_machine(nullptr, std::move(open), &note));
  if (!note.empty()) notes_.push_back(note);
  tools_ = machine_->tools();
  tools_.verify.cross_check =
      open_cross_check(KW_TRY(cross_check_mode(request_.cross_check)), request_.version, torch_);
  lanes_ = Lanes::single(tools_);  // what is compared ran on the same GPU
  calibration_ = reference_gpu();
  if (tools_.verify.gpu == nullptr) return Done{};
  tell("calibrating " + tools_.verify.gpu->info().name);
  const auto kept = calibration_of(tools_.verify.gpu->info(), tools_.calibrate, Freshness::Kept);
  calibrated_ = static_cast<bool>(kept);
  if (kept)
    calibration_ = kept->calibration;
  else
    notes_.push_back("no calibration of this GPU: " + kept.error().message);
  return Done{};
}

Status EngineWorkshop::open_judge() {
  KW_TRY(keeping_.open(request_, *task_));
  JudgeRequest ask;
  ask.task = &*task_;
  ask.verify.reference_path = request_.reference;
  ask.verify.task_options = task_options(request_.inputs, request_.function);
  ask.verify.seed = request_.seed;
  ask.verify.target = request_.target == "auto" ? "" : request_.target;
  ask.verify.timeout_seconds = request_.timeout_seconds;
  ask.verify.threads = request_.threads;
  ask.calibration = &calibration_;
  judge_ = KW_TRY(Judge::make(ask, *lanes_, *keeping_.run, progress_));
  return Done{};
}

const exec::Device& EngineWorkshop::device() const {
  return tools_.verify.gpu != nullptr ? *tools_.verify.gpu : *tools_.verify.virtual_gpu;
}

std::string EngineWorkshop::target() const {
  return request_.target.empty() || request_.target == "auto" ? device().info().target
                                                              : request_.target;
}

std::string EngineWorkshop::task_hash() const {
  return hash_hex(task::task_hash(*task_) + " " + task::dims_text(dims())).substr(0, 16);
}

Json EngineWorkshop::environment() {
  Json json = Json::object();
  json.set("kernelwright", request_.version);
  json.set("device", to_json(device().info()));
  if (!no_gpu().empty()) json.set("no_gpu", no_gpu());
  json.set("compiler", tools_.verify.compiler->name());
  json.set("target", target());
  json.set("dims", task::dims_text(dims()));
  Json tools = Json::object();
  for (const char* name : kTools) {
    const std::optional<Tool> tool = examine_one(name);
    if (!tool) continue;
    Json one = Json::object();
    one.set("found", tool->state != ToolState::Missing).set("version", tool->version);
    one.set("path", tool->path).set("note", tool->note);
    tools.set(name, std::move(one));
  }
  json.set("tools", std::move(tools));
  json.set("calibrated", calibrated_).set("rates", record::to_json(calibration_));
  json.set("floor", to_json(judge_->floor()));
  Json notes = Json::array();
  for (const std::string& note : notes_) notes.push(note);
  return json.set("notes", std::move(notes));
}

Result<std::vector<exec::Look>> EngineWorkshop::screen(const std::vector<std::string>& kernels) {
  return judge_->screen(as_candidates(kernels));
}

Result<std::string> EngineWorkshop::code_of(const std::string& kernel) {
  return judge_->code_of(as_candidates({kernel}).front());
}

Result<optimize::Raced> EngineWorkshop::judged(const record::Candidate& candidate) {
  const VerifyReport report = KW_TRY(judge_->verify(candidate));
  optimize::Raced out;
  out.verdict = record::verdict_name(report.gate.verdict);
  out.passed = record::passed(report.gate.verdict);
  out.problem = verdict_reason(report.gate.verdict);
  out.details = Json::object();
  out.details.set("verdict", record::to_json(report.gate.verdict)).set("gate", to_json(report));
  if (!out.passed) return out;
  // What has passed is examined as machine code, which may not exist: ptxas refuses more than the
  // virtual GPU does.
  const auto build = build_examined(evidence_request(candidate.text), tools_, false);
  if (!build && build.error().blame == Blame::Input) {
    out.passed = false;
    out.verdict = "rejected";
    out.problem = build.error().message;
    return out;
  }
  // One by one, so that registers are known of all and estimates can be compared.
  const exec::Look look = KW_TRY(judge_->screen({candidate})).front();
  if (look.us > 0) out.us = look.us;
  if (!look.refused.empty()) out.problem = "no estimate: " + look.refused;
  if (const Cost* cost = judge_->cost(candidate.id)) out.details.set("estimate", to_json(*cost));
  return out;
}

// Many are looked at quickly first; the first of them stays in any case.
Result<std::vector<Racer>> EngineWorkshop::timed(const exec::Candidates& candidates) {
  const RaceOptions quick{1, true};
  if (request_.quick) return judge_->race(candidates, quick);
  if (candidates.size() <= kMostTogether) return judge_->race(candidates, RaceOptions{});
  std::vector<Racer> racers = KW_TRY(judge_->race(candidates, quick));
  std::vector<size_t> best;
  for (size_t i = 1; i < racers.size(); ++i) {
    if (racers[i].measurement) best.push_back(i);
  }
  std::ranges::stable_sort(best, {},
                           [&](size_t i) { return racers[i].measurement->summary.median; });
  if (best.size() >= kMostTogether) best.resize(kMostTogether - 1);
  best.insert(best.begin(), 0);
  exec::Candidates chosen;
  for (const size_t i : best) chosen.push_back(candidates[i]);
  std::vector<Racer> again = KW_TRY(judge_->race(chosen, RaceOptions{}));
  for (size_t k = 0; k < best.size(); ++k) {
    again[k].gate = std::move(racers[best[k]].gate);
    racers[best[k]] = std::move(again[k]);
  }
  return racers;
}

Result<std::vector<optimize::Raced>> EngineWorkshop::raced_once(
    const exec::Candidates& candidates) {
  std::vector<optimize::Raced> out;
  if (measures()) {
    for (const Racer& racer : KW_TRY(timed(candidates))) out.push_back(raced(racer));
    return out;
  }
  for (const record::Candidate& candidate : candidates) {
    auto known = judged_.find(candidate.id);
    if (known == judged_.end())
      known = judged_.emplace(candidate.id, KW_TRY(judged(candidate))).first;
    out.push_back(known->second);
  }
  return out;
}

// Several methods may have one switch: the same text is raced once. A copy of the first stays one,
// since it is compared with the first.
Result<std::vector<optimize::Raced>> EngineWorkshop::race(const std::vector<std::string>& kernels) {
  const exec::Candidates candidates = as_candidates(kernels);
  exec::Candidates different;
  std::vector<size_t> at;  // in `different`
  for (size_t i = 0; i < candidates.size(); ++i) {
    size_t k = std::min<size_t>(i, 1);
    while (k < different.size() && different[k].id != candidates[i].id) ++k;
    if (k == different.size()) different.push_back(candidates[i]);
    at.push_back(k);
  }
  const std::vector<optimize::Raced> once = KW_TRY(raced_once(different));
  std::vector<optimize::Raced> out;
  for (const size_t k : at) out.push_back(once[k]);
  return out;
}

Result<std::optional<optimize::Noise>> EngineWorkshop::noise(const std::string& kernel) {
  if (!measures()) return std::optional<optimize::Noise>();
  const std::vector<std::string> copies(kCopies, kernel);
  std::vector<double> differences, detectable;
  optimize::Noise noise;
  for (const Racer& racer : KW_TRY(timed(as_candidates(copies)))) {
    if (!racer.comparison) continue;
    differences.push_back(100 * std::abs(racer.comparison->speedup - 1));
    detectable.push_back(100 * racer.comparison->detectable);
    noise.pairs += racer.comparison->pairs;
  }
  if (differences.empty()) return std::optional<optimize::Noise>();
  noise.noise_pct = median_of(std::move(differences));
  noise.mde_pct = std::max(noise.noise_pct, median_of(std::move(detectable)));
  return std::optional(noise);
}

Result<profile::Examined> EngineWorkshop::examine(const std::string& kernel,
                                                   std::optional<double> us,
                                                   const std::string& report) {
  EvidenceRequest ask = evidence_request(kernel);
  ask.us = us;
  ask.report = report;
  return examine_module(ask, tools_, progress_);
}

Result<std::optional<std::vector<profile::SassFunction>>> EngineWorkshop::machine_code(
    const std::string& kernel) {
  return engine::machine_code(evidence_request(kernel), tools_);
}

EvidenceRequest EngineWorkshop::evidence_request(const std::string& kernel) const {
  EvidenceRequest ask;
  ask.module_text = kernel;
  ask.task = &*task_;
  ask.dims = dims();
  ask.target = target();
  ask.calibration = &calibration_;
  ask.timeout_seconds = request_.timeout_seconds;
  ask.threads = request_.threads;
  return ask;
}

}  // namespace

Result<std::unique_ptr<TaskWorkshop>> open_workshop(const WorkshopRequest& request,
                                                    Progress progress) {
  auto workshop = std::make_unique<EngineWorkshop>(request, std::move(progress));
  KW_TRY(workshop->open());
  return std::unique_ptr<TaskWorkshop>(std::move(workshop));
}

}  // namespace kw::engine
