// optimize/ decides what to try but knows no hardware; this file gives it the judge that every
// search uses, for one task at one shape. Inputs and truths are made once and shared by all races.
// Only one GPU is used, because kernels that are compared must run on the same device. Without a
// GPU kernels are verified on the virtual GPU and estimated; a kernel that ptxas refuses does not
// pass. A second judge for optimising was the alternative; its verdicts could differ.
#include "workflows/task_tools.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/hash.h"
#include "core/json_writer.h"
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

constexpr const char* kTools[] = {"nvdisasm", "cuobjdump", "ncu", "ncu-counters"};

/// Where the judge stores its results: the folder that the user named, or a temporary one.
struct ResultFolder {
  std::optional<os::ScratchFolder> passing;
  std::optional<store::Run> run;

  Status open(const TaskToolsRequest& request, const task::Task& task) {
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

class JudgeTaskTools : public TaskTools, public ports::Judge, public profile::Examiner {
 public:
  JudgeTaskTools(TaskToolsRequest request, single_run::Progress progress)
      : request_(std::move(request)), progress_(std::move(progress)) {
    judge = this;
    examiner = this;
  }

  Status open();

  const task::Task& task() const override { return *task_; }
  const task::Dims& dims() const override { return judge_->dims(); }
  const std::string& no_gpu() const override { return machine_->no_gpu(); }
  void expect(const std::vector<std::string>& kernels) override {
    judge_->expect(optimize::candidates_of(kernels));
  }
  Result<std::string> code_of(const std::string& kernel) override;

  bool has_clock() const override { return judge_->has_clock(); }
  Result<std::vector<ports::Outcome>> examine(const ports::Candidates& candidates,
                                              ports::Depth depth) override {
    return judge_->examine(candidates, depth);
  }
  /// Without a clock it verifies and estimates, each candidate once.
  Result<std::vector<ports::Outcome>> race(const ports::Candidates& candidates,
                                           const ports::RaceOptions& options) override;
  Result<ports::Outcome> certify(const record::Candidate& candidate) override {
    return judge_->certify(candidate);
  }

  Result<profile::Examined> evidence(const std::string& kernel, std::optional<double> us,
                                     const std::string& report) override;
  Result<std::optional<std::vector<profile::SassFunction>>> machine_code(
      const std::string& kernel) override;

 private:
  void report_progress(const std::string& what) const;
  Status read_task();
  Status open_machine();
  Status open_judge();
  const ports::Device& device() const;
  Json environment() const;
  evidence::EvidenceRequest evidence_request(const std::string& kernel) const;
  /// Verifies on the virtual GPU and estimates.
  Result<ports::Outcome> judged(const record::Candidate& candidate);

  TaskToolsRequest request_;
  single_run::Progress progress_;
  std::shared_ptr<torch_worker::TorchProcess> torch_;
  std::optional<task::Task> task_;
  std::shared_ptr<timing::BenchMachine> machine_;
  timing::BenchTools tools_;
  std::unique_ptr<timing::Lanes> lanes_;
  record::Calibration calibration_;
  bool calibrated_ = false;
  ResultFolder results_;
  std::unique_ptr<judge::LocalJudge> judge_;
  std::map<std::string, ports::Outcome> judged_;  // by id, when nothing is timed
  std::vector<std::string> notes_;
};

void JudgeTaskTools::report_progress(const std::string& what) const {
  if (progress_) progress_(what);
}

Status JudgeTaskTools::open() {
  report_progress("reading the reference");
  KW_TRY(read_task());
  KW_TRY(open_machine());
  return open_judge();
}

Status JudgeTaskTools::read_task() {
  if (request_.reference.empty())
    return input_error("missing required option --reference REF: a Python file or a task folder");
  torch_ = reference::open_torch();
  task_.emplace(KW_TRY(reference::load_reference({request_.reference,
                                                  request_.function,
                                                  request_.inputs,
                                                  request_.dims,
                                                  torch_,
                                                  false,
                                                  {},
                                                  request_.mode,
                                                  request_.device})));
  notes_ = task_->notes;
  return reference::read_precision(request_.precision, task_->precision);
}

Status JudgeTaskTools::open_machine() {
  timing::BenchOpenRequest open = machine_request(request_);
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

Status JudgeTaskTools::open_judge() {
  KW_TRY(results_.open(request_, *task_));
  judge::JudgeRequest ask;
  ask.task = &*task_;
  ask.verify = verify_request(request_);
  ask.calibration = &calibration_;
  judge_ = KW_TRY(judge::LocalJudge::make(ask, *lanes_, *results_.run, progress_));
  facts.target = ask.verify.target.empty() ? device().info().target : ask.verify.target;
  facts.task_name = task_->name;
  facts.task_hash = hash_hex(task::task_hash(*task_) + " " + task::dims_text(dims())).substr(0, 16);
  facts.environment = [this] { return environment(); };
  return Done{};
}

const ports::Device& JudgeTaskTools::device() const {
  return tools_.verify.gpu != nullptr ? *tools_.verify.gpu : *tools_.verify.virtual_gpu;
}

Json JudgeTaskTools::environment() const {
  JsonWriter v, tools;
  for (const char* name : kTools) {
    const std::optional<machine::Tool> tool = machine::examine_one(name);
    if (!tool) continue;
    tools.group(name, [&tool](auto& g) {
      g("found", tool->state != machine::ToolState::Missing)("version", tool->version);
      g("path", tool->path)("note", tool->note);
    });
  }
  v("kernelwright", request_.version)("device", machine::to_json(device().info()));
  v("no_gpu", no_gpu(), Zero::Omit)("compiler", tools_.verify.compiler->name());
  v("target", facts.target)("dims", task::dims_text(dims()))("tools", tools.take());
  v("calibrated", calibrated_)("rates", calibration_)("floor", judge_->floor());
  return v("notes", notes_).take();
}

Result<std::string> JudgeTaskTools::code_of(const std::string& kernel) {
  return judge_->code_of(optimize::candidates_of({kernel}).front());
}

Result<ports::Outcome> JudgeTaskTools::judged(const record::Candidate& candidate) {
  const verification::VerifyReport report = KW_TRY(judge_->verify(candidate));
  const record::Verdict& verdict = report.gate.verdict;
  ports::Outcome out = ports::Outcome::refusal(judge::verdict_reason(verdict));
  out.verdict = record::verdict_name(verdict);
  out.documents = Json::object();
  out.documents.set("verdict", record::to_json(verdict)).set("gate", to_json(report));
  if (!out.passed()) return out;
  // Kernels that passed are examined as machine code, which may not exist: ptxas refuses more than
  // the virtual GPU.
  const auto build = evidence::build_examined(evidence_request(candidate.text), tools_, false);
  if (!build && build.error().blame == Blame::Input) {
    out.verdict = "rejected";
    out.refused = build.error().message;
    return out;
  }
  // One candidate per call, so each gets its registers and estimates can be compared.
  const ports::Outcome look = KW_TRY(judge_->examine_one(candidate, ports::Depth::Screen));
  out.us = look.us;
  if (!look.refused.empty()) out.detail = "no estimate: " + look.refused;
  if (const timing::Cost* cost = judge_->cost(candidate.id))
    out.documents.set("estimate", to_json(*cost));
  return out;
}

Result<std::vector<ports::Outcome>> JudgeTaskTools::race(const ports::Candidates& candidates,
                                                         const ports::RaceOptions& options) {
  if (has_clock()) {
    ports::RaceOptions asked = options;
    asked.quick = asked.quick || request_.quick;
    return judge_->race(candidates, asked);
  }
  std::vector<ports::Outcome> out;
  for (const record::Candidate& candidate : candidates) {
    auto known = judged_.find(candidate.id);
    if (known == judged_.end())
      known = judged_.emplace(candidate.id, KW_TRY(judged(candidate))).first;
    out.push_back(known->second);
  }
  return out;
}

Result<profile::Examined> JudgeTaskTools::evidence(const std::string& kernel,
                                                   std::optional<double> us,
                                                   const std::string& report) {
  evidence::EvidenceRequest ask = evidence_request(kernel);
  ask.us = us;
  ask.report = report;
  return evidence::examine_module(ask, tools_, progress_);
}

Result<std::optional<std::vector<profile::SassFunction>>> JudgeTaskTools::machine_code(
    const std::string& kernel) {
  return evidence::machine_code(evidence_request(kernel), tools_);
}

evidence::EvidenceRequest JudgeTaskTools::evidence_request(const std::string& kernel) const {
  evidence::EvidenceRequest ask;
  ask.module_text = kernel;
  ask.task = &*task_;
  ask.dims = dims();
  ask.target = facts.target;
  ask.calibration = &calibration_;
  ask.timeout_seconds = request_.timeout_seconds;
  ask.threads = request_.threads;
  return ask;
}

}  // namespace

Result<std::unique_ptr<TaskTools>> open_task_tools(const TaskToolsRequest& request,
                                                   single_run::Progress progress) {
  auto tools = std::make_unique<JudgeTaskTools>(request, std::move(progress));
  KW_TRY(tools->open());
  return std::unique_ptr<TaskTools>(std::move(tools));
}

}  // namespace kw::workflows
