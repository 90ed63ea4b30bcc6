// From a reference to a certified kernel: read the reference, open the machine, search, certify,
// report. The steps are methods of one object, and run() lists them in order. A step that fails
// skips the following ones, but the report is always written, because the user and later tools need
// the reason. Only what prevents a run folder is returned as an Error. A bug of ours (an exception)
// ends the step, not the process, so judged candidates are kept. Returning at the first Error was
// the alternative; then the work before it would be lost. The time limit covers the search;
// certifying comes in addition.
#include "workflows/synthesize.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include "core/check.h"
#include "core/text.h"
#include "machine/devices.h"
#include "os/entropy.h"
#include "os/files.h"
#include "os/inside.h"
#include "os/interrupt.h"
#include "reference/load_reference.h"
#include "timing/calibration.h"
#include "variants/builtin.h"
#include "verification/cross_check.h"
#include "verification/verify_tools.h"
#include "workflows/evolve_work.h"
#include "workflows/model_work.h"
#include "workflows/synthesis.h"

namespace kw::workflows {
namespace {

constexpr size_t kGuesses = 12;       // candidates tried when there are only estimates
constexpr size_t kPlateauLooks = 40;  // measured without a better one

/// The text that a run stores as reference.py, even if the task cannot be read. The reference's
/// name in a task folder is known only to task.toml.
Result<std::string> reference_text(const std::string& path) {
  if (path.empty())
    return input_error("synthesize needs --reference REF: a Python file or a task folder");
  if (!os::is_directory(path)) return os::read_file(path, kMostReferenceBytes);
  Result<std::string> text = os::read_inside(path, "reference.py", kMostReferenceBytes);
  return text ? std::move(text).value() : std::string();
}

Status check_request(const SynthesizeRequest& request) {
  if (request.evolve) KW_TRY(check_evolve(*request.evolve));
  KW_TRY(review::check_readers(request.readers, request.verifiers));
  const bool no_goal = request.evolve && request.goal == 0;
  if ((!(request.goal > 0) && !no_goal) || !std::isfinite(request.goal))
    return input_error("--goal must be a positive fraction of the floor, like 0.95");
  if (!(request.perf_target > 0) || !std::isfinite(request.perf_target))
    return input_error("--perf-target must be a positive factor, like 1.0");
  if (!(request.seconds >= 0) || !std::isfinite(request.seconds))
    return input_error("--time must be a duration, like 60s or 2m");
  task::Precision ignored;
  KW_TRY(reference::read_precision(request.precision, ignored));
  if (request.target != "auto") KW_TRY(arch::find_target(request.target));
  const std::string& device = request.device;
  if (device != "auto" && device != "gpu" && device != "vgpu")
    return input_error("--device: '" + device + "' is not one of auto, gpu, vgpu");
  return Done{};
}

std::vector<std::string> words_of_name(const std::string& path, const std::string& function) {
  std::string stem = path.substr(path.rfind('/') + 1);
  stem = stem.substr(0, stem.rfind('.'));
  std::vector<std::string> words;
  for (const std::string& name : {stem, function}) {
    std::string joined;
    for (const std::string& part : split(name, '_')) {
      if (!part.empty()) words.push_back(part);
      joined += part;
    }
    words.push_back(name);
    words.push_back(joined);
  }
  return words;
}

}  // namespace

Synthesis::Synthesis(SynthesizeRequest request, const SynthesisWatcher& watcher)
    : request_(std::move(request)), watcher_(watcher), torch_(reference::open_torch()) {}

Synthesis::~Synthesis() = default;

double Synthesis::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Synthesis::report_progress(const std::string& stage, const std::string& detail) {
  progress_.stage = stage;
  progress_.detail = detail;
  progress_.seconds = seconds();
  if (watcher_) watcher_(progress_);
}

// A bug of ours ends the job, not the process. Earlier results are still reported.
Status Synthesis::guarded(Step method) {
  try {
    return (this->*method)();
  } catch (const Bug& bug) {
    return Error{Blame::Bug, bug.what()};
  }
}

bool Synthesis::step(const char* name, Step method) {
  if (!report_.failed_stage.empty()) return false;
  report_progress(name, "");
  const double begin = seconds();
  const Status done = guarded(method);
  traces_.push_back({name, 1, static_cast<bool>(done), seconds() - begin});
  if (done) return true;
  fail(name, done.error());
  return false;
}

void Synthesis::fail(const std::string& stage, const Error& error) {
  report_.failed_stage = stage;
  report_.failure_reason = error.message;
  report_.interrupted = os::interrupted();
  report_.error_blame = static_cast<int>(error.blame);
}

Status Synthesis::apply_precision() {
  std::string words = request_.precision;
  for (reference::Phrase& phrase : prompt_.phrases) {
    if (phrase.kind != reference::PhraseKind::Precision) continue;
    words += (words.empty() ? "" : ",") + phrase.value;
    phrase.effect = "precision " + phrase.value;
  }
  return reference::read_precision(words, task_->precision);
}

std::string Synthesis::priority() const {
  if (const reference::Phrase* said = prompt_.find(reference::PhraseKind::Priority))
    return said->value;
  return work_ ? work_->spec.optimization_priority : "";
}

// Small shapes are latency-bound, large ones throughput-bound.
void Synthesis::order_shapes(const std::string& priority) {
  if (priority == "balanced") return;
  const auto volume = [](const task::Dims& dims) {
    double product = 1;
    for (const auto& [name, value] : dims) product *= static_cast<double>(value);
    return product;
  };
  std::ranges::stable_sort(task_->benchmark_shapes, {}, volume);
  if (priority == "throughput") std::ranges::reverse(task_->benchmark_shapes);
}

// Sets the dims of the input with the most dims to equal extents with that many elements.
Status Synthesis::apply_elements() {
  if (request_.elements == 0 || !request_.dims.empty()) return Done{};
  std::set<std::string> names;
  for (const task::TensorSpec& input : task_->inputs) {
    std::set<std::string> own;
    for (const std::string& extent : input.shape) {
      if (task_->dims.count(extent) > 0) own.insert(extent);
    }
    if (own.size() > names.size()) names = std::move(own);
  }
  if (names.empty()) {
    report_.warnings.push_back("--elements: the reference's shapes are fixed");
    return Done{};
  }
  task::Dims dims = task_->benchmark_shapes.front();
  const double root =
      std::pow(static_cast<double>(request_.elements), 1.0 / static_cast<double>(names.size()));
  for (const std::string& name : names) dims[name] = std::max<int64_t>(1, std::llround(root));
  auto traced = task_->graph_at(dims);
  if (!traced) return std::move(traced).error().context("--elements: " + task::dims_text(dims));
  task_->benchmark_shapes = {dims};
  return Done{};
}

// Applies the shape and the target GPU of the prompt. The reference gives everything else.
Status Synthesis::apply_prompt() {
  if (reference::Phrase* shape = prompt_.find(reference::PhraseKind::Shape);
      shape != nullptr && request_.dims.empty()) {
    std::vector<std::string> names;
    for (const std::string& extent :
         task_->inputs.empty() ? std::vector<std::string>() : task_->inputs.front().shape) {
      if (task_->dims.count(extent) > 0) names.push_back(extent);
    }
    const std::vector<std::string> numbers = split(shape->value, 'x');
    if (names.size() == numbers.size()) {
      task::Dims dims = task_->benchmark_shapes.front();
      for (size_t i = 0; i < names.size(); ++i)
        dims[names[i]] = parse_int(numbers[i]).value_or(dims[names[i]]);
      task_->benchmark_shapes = {dims};
      shape->effect = "fast at " + task::dims_text(dims);
    }
  }
  if (reference::Phrase* priority = prompt_.find(reference::PhraseKind::Priority)) {
    order_shapes(priority->value);
    const size_t shapes = task_->benchmark_shapes.size();
    priority->effect = priority->value == "balanced" && shapes > 1
                           ? fmt::format("fast at all {} benchmark shapes", shapes)
                           : "fast at " + task::dims_text(task_->benchmark_shapes.front());
  }
  if (reference::Phrase* arch = prompt_.find(reference::PhraseKind::Arch)) {
    KW_TRY(arch::find_target(arch->value));
    if (request_.target == "auto") request_.target = arch->value;
    arch->effect = request_.target == arch->value ? "target " + arch->value
                                                  : "not followed: --target " + request_.target;
  }
  for (std::string& one : reference::check_prompt(prompt_, *task_))
    report_.warnings.push_back(std::move(one));
  if (!prompt_.unused.empty())
    report_.warnings.push_back("not understood in the prompt: " + join(prompt_.unused, "; "));
  return Done{};
}

Status Synthesis::read_reference() {
  prompt_ =
      reference::read_prompt(request_.prompt, words_of_name(request_.reference, request_.function));
  reference::ReferenceRequest ask{request_.reference, request_.function, request_.inputs,
                                  request_.dims, torch_};
  Result<task::Task> task = reference::load_reference(ask);
  if (!task && request_.inputs.empty()) {
    ask.inputs = reference::inputs_from_prompt(prompt_, task.error().message);
    if (!ask.inputs.empty()) {
      request_.inputs = ask.inputs;
      task = reference::load_reference(ask);
    }
  }
  if (!task && request_.inputs.empty()) {
    ask.inputs = KW_TRY(inputs_from_model(task.error().message));
    if (!ask.inputs.empty()) {
      request_.inputs = ask.inputs;
      task = reference::load_reference(ask);
    }
  }
  if (!task) return std::move(task).error();
  task_.emplace(std::move(task).value());
  if (!kept_name_.empty()) task_->name = kept_name_;
  reference_text_ = task_->source;
  if (!request_.prompt.empty()) task_->prompt = request_.prompt;
  KW_TRY(apply_precision());
  KW_TRY(apply_elements());
  KW_TRY(apply_prompt());
  report_.task_name = task_->name;
  for (const std::string& note : task_->notes) report_.notes.push_back(note);
  return Done{};
}

Status Synthesis::open_machine() {
  timing::BenchOpenRequest open;
  open.device = request_.device;
  open.target = request_.target == "auto" ? "" : request_.target;
  open.compiler = request_.compiler;
  open.torch = !request_.baselines.empty();
  open.notice = [this](const std::string& what) { report_progress("machine", what); };
  std::string not_timed;
  machine_ = KW_TRY(timing::fitting_machine(request_.machine, std::move(open), &not_timed));
  if (!not_timed.empty()) report_.notes.push_back(not_timed);
  tools_ = machine_->tools();
  const verification::CrossCheckMode mode =
      KW_TRY(verification::cross_check_mode(request_.cross_check));
  tools_.verify.cross_check = verification::open_cross_check(mode, request_.version, torch_);
  lanes_ = KW_TRY(timing::Lanes::open(tools_));
  for (const std::string& note : lanes_->notes()) report_.notes.push_back(note);
  calibration_ = timing::reference_gpu();
  if (tools_.verify.gpu != nullptr) {
    report_progress("machine", "calibrating " + tools_.verify.gpu->info().name);
    const auto measured = timing::calibration_of(tools_.verify.gpu->info(), tools_.calibrate,
                                                 timing::Freshness::Kept);
    if (measured)
      calibration_ = measured->calibration;
    else
      report_.warnings.push_back("no calibration of this GPU: " + measured.error().message);
  }
  const ports::Device& where =
      tools_.verify.gpu != nullptr ? *tools_.verify.gpu : *tools_.verify.virtual_gpu;
  report_.device = where.info().name;
  return Done{};
}

Json Synthesis::env_json() const {
  Json json = Json::object();
  json.set("kernelwright", request_.version);
  json.set("cores", static_cast<int64_t>(std::thread::hardware_concurrency()));
  if (machine_ == nullptr) return json;
  const ports::Device* gpu = tools_.verify.gpu;
  json.set("device",
           machine::to_json(gpu != nullptr ? gpu->info() : tools_.verify.virtual_gpu->info()));
  if (gpu == nullptr) json.set("no_gpu", machine_->no_gpu());
  json.set("compiler", tools_.verify.compiler->name());
  json.set("lanes", static_cast<int64_t>(lanes_ != nullptr ? lanes_->all().size() : 0));
  json.set("rates", record::to_json(calibration_));
  return json;
}

Json Synthesis::config_json() const {
  return request_to_json(request_).set("order_seed", order_seed_);
}

Status Synthesis::create_run() {
  store::RunInputs inputs;
  inputs.name = task_ ? task_->name : "unread";
  inputs.prompt = request_.prompt;
  inputs.reference = request_.models.store_reference ? reference_text_ : "";
  inputs.spec = task_ ? task::to_json(*task_) : Json();
  if (task_ && work_) inputs.spec.set("kernel_spec", stages::to_json(work_->spec));
  inputs.config = config_json();
  inputs.env = env_json();
  store::Where where;
  where.root = request_.out.empty() ? store::default_root() : request_.out;
  run_.emplace(KW_TRY(store::Run::create(where, inputs)));
  if (work_) {
    KW_TRY(work_->journal->attach(*run_));
    KW_TRY(run_->write("stage1_interview/kernel_spec.json",
                       stages::to_json(work_->spec).dump(true) + "\n"));
  }
  report_.run_id = run_->id();
  report_.folder = progress_.folder = run_->folder();
  return Done{};
}

Result<std::unique_ptr<halving::Proposer>> Synthesis::make_proposer() {
  if (only_measure_ || (work_ && work_->proposer == "llm")) return variants::no_proposer();
  generate::Options options;
  options.target = KW_TRY(arch::find_target(tools_.verify.virtual_gpu->info().target));
  std::unique_ptr<halving::Proposer> made =
      KW_TRY(variants::builtin_proposer(*task_, options, order_seed_));
  return made;
}

halving::Options Synthesis::search_options(bool has_clock) {
  halving::Options options;
  const double begin = seconds();
  options.seconds = [this, begin] { return seconds() - begin; };
  options.floor_us = judge_->rank_floor_us();
  options.lane = 4 * lanes_->all().size();
  options.batch = has_clock ? 2 * options.lane : 6;
  options.by_estimate = request_.verifiers;
  options.rules.push_back(halving::stop_at_goal(request_.goal));
  options.rules.push_back(halving::stop_after_seconds(request_.seconds));
  const size_t most = request_.candidates > 0 ? request_.candidates : has_clock ? 0 : kGuesses;
  if (most > 0) options.rules.push_back(halving::stop_after_candidates(most));
  if (most > 0) options.batch = std::min(options.batch, most);
  if (has_clock) options.rules.push_back(halving::stop_at_plateau(kPlateauLooks));
  options.watch = [this](const halving::SearchProgress& standing, halving::Phase phase) {
    if (phase == halving::Phase::Certify && certifications_++ == 0) certify_begin_ = seconds();
    watch(standing, halving::phase_name(phase));
  };
  return options;
}

void Synthesis::watch(const halving::SearchProgress& standing, const std::string& phase) {
  progress_.tried = standing.tried;
  progress_.rejected = standing.refused;
  progress_.best_us = standing.best_us;
  progress_.measured = standing.measured;
  progress_.of_floor =
      standing.best_us > 0 && standing.floor_us > 0 ? standing.floor_us / standing.best_us : 0;
  progress_.eta_seconds.reset();
  if (phase == "screening" || phase == "measuring")
    progress_.eta_seconds = std::max(0.0, request_.seconds - standing.seconds);
  Json state = Json::object();
  state.set("phase", phase).set("tried", static_cast<int64_t>(standing.tried));
  state.set("best_us", standing.best_us).set("seconds", standing.seconds);
  if (run_) {
    // A full disk appears at the next important write.
    const Status kept = run_->checkpoint(state);
    if (!kept) report_.notes.push_back(kept.error().message);
  }
  report_progress(phase, "");
}

judge::JudgeRequest Synthesis::judge_request() const {
  judge::JudgeRequest ask;
  ask.task = &*task_;
  ask.verify.reference_path = request_.reference;
  ask.verify.task_options = verification::task_options(request_.inputs, request_.function);
  ask.verify.seed = request_.seed;
  ask.verify.target = request_.target == "auto" ? "" : request_.target;
  ask.verify.timeout_seconds = request_.timeout_seconds;
  ask.verify.threads = request_.threads;
  ask.torch_modes = request_.baselines;
  ask.quick = request_.quick;
  ask.host_time = priority() == "latency";
  ask.all_shapes = priority() == "balanced";
  ask.calibration = &calibration_;
  return ask;
}

Status Synthesis::make_judge() {
  judge_ = KW_TRY(judge::LocalJudge::make(
      judge_request(), *lanes_, *run_,
      [this](const std::string& what) { report_progress(progress_.stage, what); }));
  return Done{};
}

Status Synthesis::search() {
  KW_TRY(make_judge());
  restore_archive();
  proposer_ = KW_TRY(make_proposer());
  if (work_ && work_->proposer == "llm") return Done{};
  halving::Options options = search_options(judge_->has_clock());
  if (work_) options.certifications = 0;  // the winner may come later
  outcome_ = KW_TRY(halving::run(*proposer_, *judge_, archive_, options));
  search_end_ = seconds();
  return Done{};
}

// A search without a winner is a result, not an Error.
void Synthesis::conclude() {
  if (request_.evolve) return conclude_evolution();
  if (!outcome_ || !report_.failed_stage.empty()) return;
  report_.passed = outcome_->winner.has_value();
  if (report_.passed) return;
  report_.failed_stage = "certify";
  report_.failure_reason = "no candidate was produced";
  if (work_ && work_->provider && !work_->story && work_->proposer == "llm") {
    report_.failed_stage = "interview";
    report_.failure_reason = work_->provider->error().message;
    report_.error_blame = static_cast<int>(work_->provider->blame());
    return;
  }
  if (work_ && !work_->why_not.empty()) {
    // No author wrote a right kernel: the failed stage says more than the number of candidates.
    report_.failed_stage = work_->story->failed() != nullptr
                               ? stages::stage_name(work_->story->failed()->stage)
                               : "certify";
    report_.failure_reason = work_->why_not;
    if (work_->provider) report_.error_blame = static_cast<int>(work_->provider->blame());
    return;
  }
  for (const halving::Entry& entry : archive_.entries()) {
    if (entry.alive()) continue;
    report_.failure_reason = fmt::format("none of {} candidates passed; the last: {}",
                                         archive_.entries().size(), entry.outcome.refused);
  }
}

Result<SynthesisReport> Synthesis::finish() {
  fill_report();
  if (!run_) return Error{Blame::Environment, report_.failure_reason};
  const Status written = run_->finish(report_.document, final_files());
  if (!written) {
    report_.passed = false;
    report_.failed_stage = "store";
    report_.failure_reason = written.error().message;
    report_.error_blame = static_cast<int>(written.error().blame);
  } else if (work_ && !request_.evolve) {
    KW_TRY(show_outcome());
  }
  return std::move(report_);
}

// All steps. A step that fails skips the rest; the report says which and why.
Result<SynthesisReport> Synthesis::run() {
  KW_TRY(check_request(request_));
  reference_text_ = KW_TRY(reference_text(request_.reference));
  const std::optional<uint64_t> seed = request_.evolve ? request_.evolve->seed : request_.seed;
  order_seed_ = seed ? *seed : KW_TRY(os::random_bits()) >> 1;
  KW_TRY(open_models());
  step("reference", &Synthesis::read_reference);
  step("machine", &Synthesis::open_machine);
  if (work_) step("interview", &Synthesis::interview);
  KW_TRY(create_run());
  return tell_the_rest();
}

Result<SynthesisReport> Synthesis::tell_the_rest() {
  if (request_.evolve) {
    step("evolve", &Synthesis::evolve);
    step("certify", &Synthesis::certify_evolved);
    conclude();
    generalise();
    return finish();
  }
  step("search", &Synthesis::search);
  if (work_) {
    talk_step();
    step("certify", &Synthesis::certify_models);
    polish_step();
  }
  conclude();
  return finish();
}

Result<SynthesisReport> synthesize(const SynthesizeRequest& request,
                                   const SynthesisWatcher& watcher) {
  return Synthesis(request, watcher).run();
}

}  // namespace kw::workflows
