// optimize/ decides what to try but knows no hardware; this file gives it the judge that every
// search uses, for one task at one shape. Inputs and truths are made once and shared by all races.
// Only one GPU is used, because kernels that are compared must run on the same device. More than
// eight kernels are raced quickly first, and only the best meet at full length. The noise of the
// clock comes from four copies of one kernel. Without a GPU kernels are verified on the virtual GPU
// and estimated; a kernel that ptxas refuses does not pass. A second judge for optimising was the
// alternative; its verdicts could differ.
#include "workflows/workshop.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/hash.h"
#include "evidence/evidence.h"
#include "evidence/evidence_build.h"
#include "judge/judge.h"
#include "machine/devices.h"
#include "machine/probes.h"
#include "os/files.h"
#include "os/scratch.h"
#include "reference/load_reference.h"
#include "store/run.h"
#include "timing/bench_tools.h"
#include "timing/lanes.h"
#include "verification/verify_tools.h"

namespace kw::workflows {
namespace {

constexpr size_t kMostTogether = 8;  // in one race at full length
constexpr size_t kCopies = 4;        // of one kernel, to measure the noise
constexpr const char* kTools[] = {"nvdisasm", "cuobjdump", "ncu", "ncu-counters"};

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// The time of the first kernel over that of the other.
optimize::Ratio ratio_of(const clock::Comparison& first) {
  optimize::Ratio ratio;
  ratio.value = 1 / first.speedup;
  ratio.low = first.high > 0 ? 1 / first.high : 0;
  ratio.high = first.low > 0 ? 1 / first.low : 0;
  clock::Relation other = first.relation;
  if (other == clock::Relation::Faster)
    other = clock::Relation::Slower;
  else if (other == clock::Relation::Slower)
    other = clock::Relation::Faster;
  ratio.relation = clock::relation_name(other);
  return ratio;
}

ports::Candidates as_candidates(const std::vector<std::string>& kernels) {
  ports::Candidates out;
  for (size_t i = 0; i < kernels.size(); ++i) {
    out.push_back(record::make_candidate(kernels[i], {}, "optimize",
                                         fmt::format("kernel {} of {}", i + 1, kernels.size())));
  }
  return out;
}

optimize::Raced raced(const judge::Racer& racer) {
  optimize::Raced out;
  out.verdict = record::verdict_name(racer.verdict);
  out.passed = record::passed(racer.verdict);
  out.problem = out.passed ? racer.problem : judge::verdict_reason(racer.verdict);
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

/// Where the judge stores its results: the folder that the user named, or a temporary one.
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
  EngineWorkshop(WorkshopRequest request, single_run::Progress progress)
      : request_(std::move(request)), progress_(std::move(progress)) {}

  Status open();

  const task::Task& task() const override { return *task_; }
  const task::Dims& dims() const override { return judge_->dims(); }
  const std::string& no_gpu() const override { return machine_->no_gpu(); }
  Json environment() override;
  std::string target() const override;
  std::string task_hash() const override;
  std::string task_name() const override { return task_->name; }
  bool has_clock() const override { return judge_->has_clock(); }
  Result<std::vector<ports::Outcome>> screen(const std::vector<std::string>& kernels) override;
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
  void report_progress(const std::string& what) const;
  Status read_task();
  Status open_machine();
  Status open_judge();
  const ports::Device& device() const;
  evidence::EvidenceRequest evidence_request(const std::string& kernel) const;
  /// Verifies on the virtual GPU and estimates.
  Result<optimize::Raced> judged(const record::Candidate& candidate);
  Result<std::vector<judge::Racer>> timed(const ports::Candidates& candidates);
  Result<std::vector<optimize::Raced>> raced_once(const ports::Candidates& candidates);

  WorkshopRequest request_;
  single_run::Progress progress_;
  std::shared_ptr<torch_worker::TorchProcess> torch_;
  std::optional<task::Task> task_;
  std::shared_ptr<timing::BenchMachine> machine_;
  timing::BenchTools tools_;
  std::unique_ptr<timing::Lanes> lanes_;
  record::Calibration calibration_;
  bool calibrated_ = false;
  Keeping keeping_;
  std::unique_ptr<judge::LocalJudge> judge_;
  std::map<std::string, optimize::Raced> judged_;  // by id, when nothing is timed
  std::vector<std::string> notes_;
};

void EngineWorkshop::report_progress(const std::string& what) const {
  if (progress_) progress_(what);
}

Status EngineWorkshop::open() {
  report_progress("reading the reference");
  KW_TRY(read_task());
  KW_TRY(open_machine());
  return open_judge();
}

Status EngineWorkshop::read_task() {
  if (request_.reference.empty())
    return input_error("optimize needs --reference REF: a Python file or a task folder");
  torch_ = reference::open_torch();
  task_.emplace(KW_TRY(reference::load_reference(
      {request_.reference, request_.function, request_.inputs, request_.dims, torch_})));
  notes_ = task_->notes;
  return reference::read_precision(request_.precision, task_->precision);
}

Status EngineWorkshop::open_machine() {
  timing::BenchOpenRequest open;
  open.device = request_.device;
  open.target = request_.target == "auto" ? "" : request_.target;
  open.compiler = request_.compiler;
  open.patience_seconds = request_.patience_seconds;
  open.notice = progress_;
  std::string note;
  machine_ = KW_TRY(timing::fitting_machine(nullptr, std::move(open), &note));
  if (!note.empty()) notes_.push_back(note);
  tools_ = machine_->tools();
  tools_.verify.cross_check = verification::open_cross_check(
      KW_TRY(verification::cross_check_mode(request_.cross_check)), request_.version, torch_);
  lanes_ = timing::Lanes::single(tools_);  // compared kernels must run on the same GPU
  calibration_ = timing::reference_gpu();
  if (tools_.verify.gpu == nullptr) return Done{};
  report_progress("calibrating " + tools_.verify.gpu->info().name);
  const auto kept =
      timing::calibration_of(tools_.verify.gpu->info(), tools_.calibrate, timing::Freshness::Kept);
  calibrated_ = static_cast<bool>(kept);
  if (kept)
    calibration_ = kept->calibration;
  else
    notes_.push_back("no calibration of this GPU: " + kept.error().message);
  return Done{};
}

Status EngineWorkshop::open_judge() {
  KW_TRY(keeping_.open(request_, *task_));
  judge::JudgeRequest ask;
  ask.task = &*task_;
  ask.verify.reference_path = request_.reference;
  ask.verify.task_options = verification::task_options(request_.inputs, request_.function);
  ask.verify.seed = request_.seed;
  ask.verify.target = request_.target == "auto" ? "" : request_.target;
  ask.verify.timeout_seconds = request_.timeout_seconds;
  ask.verify.threads = request_.threads;
  ask.calibration = &calibration_;
  judge_ = KW_TRY(judge::LocalJudge::make(ask, *lanes_, *keeping_.run, progress_));
  return Done{};
}

const ports::Device& EngineWorkshop::device() const {
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
  json.set("device", machine::to_json(device().info()));
  if (!no_gpu().empty()) json.set("no_gpu", no_gpu());
  json.set("compiler", tools_.verify.compiler->name());
  json.set("target", target());
  json.set("dims", task::dims_text(dims()));
  Json tools = Json::object();
  for (const char* name : kTools) {
    const std::optional<machine::Tool> tool = machine::examine_one(name);
    if (!tool) continue;
    Json one = Json::object();
    one.set("found", tool->state != machine::ToolState::Missing).set("version", tool->version);
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

Result<std::vector<ports::Outcome>> EngineWorkshop::screen(
    const std::vector<std::string>& kernels) {
  return judge_->examine(as_candidates(kernels), ports::Depth::Screen);
}

Result<std::string> EngineWorkshop::code_of(const std::string& kernel) {
  return judge_->code_of(as_candidates({kernel}).front());
}

Result<optimize::Raced> EngineWorkshop::judged(const record::Candidate& candidate) {
  const verification::VerifyReport report = KW_TRY(judge_->verify(candidate));
  optimize::Raced out;
  out.verdict = record::verdict_name(report.gate.verdict);
  out.passed = record::passed(report.gate.verdict);
  out.problem = judge::verdict_reason(report.gate.verdict);
  out.details = Json::object();
  out.details.set("verdict", record::to_json(report.gate.verdict)).set("gate", to_json(report));
  if (!out.passed) return out;
  // Kernels that passed are examined as machine code, which may not exist: ptxas refuses more than
  // the virtual GPU.
  const auto build = evidence::build_examined(evidence_request(candidate.text), tools_, false);
  if (!build && build.error().blame == Blame::Input) {
    out.passed = false;
    out.verdict = "rejected";
    out.problem = build.error().message;
    return out;
  }
  // One candidate per call, so each gets its registers and estimates can be compared.
  const ports::Outcome look = KW_TRY(judge_->examine({candidate}, ports::Depth::Screen)).front();
  if (look.us > 0) out.us = look.us;
  if (!look.refused.empty()) out.problem = "no estimate: " + look.refused;
  if (const timing::Cost* cost = judge_->cost(candidate.id))
    out.details.set("estimate", to_json(*cost));
  return out;
}

// Many kernels are raced quickly first. The first always stays.
Result<std::vector<judge::Racer>> EngineWorkshop::timed(const ports::Candidates& candidates) {
  const judge::RaceOptions quick{1, true};
  if (request_.quick) return judge_->race_with_evidence(candidates, quick);
  if (candidates.size() <= kMostTogether)
    return judge_->race_with_evidence(candidates, judge::RaceOptions{});
  std::vector<judge::Racer> racers = KW_TRY(judge_->race_with_evidence(candidates, quick));
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
  std::vector<judge::Racer> again =
      KW_TRY(judge_->race_with_evidence(chosen, judge::RaceOptions{}));
  for (size_t k = 0; k < best.size(); ++k) {
    again[k].gate = std::move(racers[best[k]].gate);
    racers[best[k]] = std::move(again[k]);
  }
  return racers;
}

Result<std::vector<optimize::Raced>> EngineWorkshop::raced_once(
    const ports::Candidates& candidates) {
  std::vector<optimize::Raced> out;
  if (has_clock()) {
    for (const judge::Racer& racer : KW_TRY(timed(candidates))) out.push_back(raced(racer));
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

// Several methods may share one switch, so equal texts are raced once. A copy of the first stays
// separate, because it is compared with the first.
Result<std::vector<optimize::Raced>> EngineWorkshop::race(const std::vector<std::string>& kernels) {
  const ports::Candidates candidates = as_candidates(kernels);
  ports::Candidates different;
  std::vector<size_t> at;  // index in `different`
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
  if (!has_clock()) return std::optional<optimize::Noise>();
  const std::vector<std::string> copies(kCopies, kernel);
  std::vector<double> differences, detectable;
  optimize::Noise noise;
  for (const judge::Racer& racer : KW_TRY(timed(as_candidates(copies)))) {
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
  evidence::EvidenceRequest ask = evidence_request(kernel);
  ask.us = us;
  ask.report = report;
  return evidence::examine_module(ask, tools_, progress_);
}

Result<std::optional<std::vector<profile::SassFunction>>> EngineWorkshop::machine_code(
    const std::string& kernel) {
  return evidence::machine_code(evidence_request(kernel), tools_);
}

evidence::EvidenceRequest EngineWorkshop::evidence_request(const std::string& kernel) const {
  evidence::EvidenceRequest ask;
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
                                                    single_run::Progress progress) {
  auto workshop = std::make_unique<EngineWorkshop>(request, std::move(progress));
  KW_TRY(workshop->open());
  return std::unique_ptr<TaskWorkshop>(std::move(workshop));
}

}  // namespace kw::workflows
