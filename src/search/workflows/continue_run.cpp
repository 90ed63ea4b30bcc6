// A run may be killed and resumed days later, and finished work must not be repeated. Everything is
// read back from its folder: the request, the candidates with verdicts and times, and the calls to
// models with their cost. The reference and the task must be the same, otherwise old verdicts would
// be about another task; the Error shows the difference. A candidate without any result is proposed
// again. Damaged files are left out with a warning. A saved image of the search was the
// alternative; it would break with every new version. Programs named as models in the folder run
// only if the user allows it again.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/diff.h"
#include "core/text.h"
#include "os/files.h"
#include "os/permissions.h"
#include "single_run/json.h"
#include "store/find.h"
#include "workflows/model_work.h"
#include "workflows/synthesis.h"

namespace kw::workflows {
namespace {

constexpr size_t kMostDamageTold = 3;

std::vector<std::string> strings(const Json& json) {
  std::vector<std::string> list;
  for (const Json& item : json.items()) list.push_back(item.as_string());
  return list;
}

std::string absolute(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed);
  return path.empty() || failed ? path : whole.lexically_normal().string();
}

Json models_to_json(const stages::ModelOptions& models) {
  Json json = Json::object();
  json.set("model_id", models.model_id).set("escalation_id", models.escalation_id);
  json.set("stage_models", single_run::texts(models.stage_models))
      .set("retries", single_run::texts(models.retries));
  json.set("budget_usd", models.budget_usd ? Json(*models.budget_usd) : Json());
  json.set("escalate", models.escalate).set("transcripts", models.transcripts);
  return json.set("store_reference", models.store_reference);
}

stages::ModelOptions models_from_json(const Json& json) {
  stages::ModelOptions models;
  models.model_id = json["model_id"].as_string();
  models.escalation_id = json["escalation_id"].as_string();
  models.stage_models = strings(json["stage_models"]);
  models.retries = strings(json["retries"]);
  if (json["budget_usd"].is_number()) models.budget_usd = json["budget_usd"].as_double();
  models.escalate = json["escalate"].as_bool();
  models.transcripts = json["transcripts"].as_bool(true);
  models.store_reference = json["store_reference"].as_bool(true);
  return models;
}

}  // namespace

Json request_to_json(const SynthesizeRequest& request) {
  Json json = Json::object();
  json.set("reference", absolute(request.reference)).set("function", request.function);
  json.set("inputs", single_run::texts(request.inputs));
  Json dims = Json::object();
  for (const auto& [name, value] : request.dims) dims.set(name, value);
  json.set("dims", std::move(dims)).set("prompt", request.prompt);
  json.set("elements", request.elements);
  json.set("target", request.target).set("device", request.device);
  json.set("compiler", request.compiler).set("proposer", request.proposer);
  json.set("seconds", request.seconds).set("candidates", static_cast<int64_t>(request.candidates));
  json.set("goal", request.goal).set("perf_target", request.perf_target);
  json.set("precision", request.precision);
  json.set("seed", request.seed ? Json(*request.seed) : Json());
  json.set("quick", request.quick);
  json.set("cross_check", request.cross_check)
      .set("baselines", single_run::texts(request.baselines));
  json.set("timeout_seconds", request.timeout_seconds).set("threads", request.threads);
  // Reviewers are models too, for every proposer.
  const bool readers =
      !request.readers.model.empty() || (request.evolve && !request.evolve->readers.model.empty());
  if (request.proposer != "builtin" || readers) json.set("models", models_to_json(request.models));
  if (request.evolve) json.set("evolve", to_json(*request.evolve));
  json.set("verifiers", request.verifiers).set("readers", to_json(request.readers));
  return json.set("kernelwright", request.version);
}

SynthesizeRequest request_from_json(const Json& json) {
  SynthesizeRequest request;
  request.reference = json["reference"].as_string();
  request.function = json["function"].as_string();
  request.inputs = strings(json["inputs"]);
  for (const auto& [name, value] : json["dims"].members()) request.dims[name] = value.as_int();
  request.elements = json["elements"].as_int();
  request.prompt = json["prompt"].as_string();
  request.target = json["target"].as_string();
  request.device = json["device"].as_string();
  request.compiler = json["compiler"].as_string();
  request.proposer = json["proposer"].as_string();
  request.seconds = json["seconds"].as_double(60);
  request.candidates = static_cast<size_t>(json["candidates"].as_int());
  request.goal = json["goal"].as_double(0.95);
  request.perf_target = json["perf_target"].as_double(1);
  request.precision = json["precision"].as_string();
  if (json["seed"].is_int()) request.seed = static_cast<uint64_t>(json["seed"].as_int());
  request.quick = json["quick"].as_bool();
  request.cross_check = json["cross_check"].as_string();
  request.baselines = strings(json["baselines"]);
  request.timeout_seconds = json["timeout_seconds"].as_double(60);
  request.threads = static_cast<int>(json["threads"].as_int());
  request.version = json["kernelwright"].as_string();
  request.models = models_from_json(json["models"]);
  if (json["evolve"].is_object()) request.evolve = evolve_request_from_json(json["evolve"]);
  request.verifiers = json["verifiers"].as_bool(request.verifiers);
  request.readers = review::soft_verify_options_from_json(json["readers"]);
  return request;
}

Status Synthesis::check_unchanged(const store::RunInputs& inputs, const ContinueRequest& how) {
  if (!how.reference.empty()) request_.reference = how.reference;
  const std::string path = request_.reference;
  KW_TRY(os::check_named(path));
  if (!os::exists(path)) {
    if (!request_.models.store_reference)
      return input_error(path + " is gone, and the run keeps no copy of it (--no-store-reference)");
    // The run's copy is enough if the reference needs no folder around it.
    request_.reference = how.folder + "/inputs/reference.py";
    reference_text_ = inputs.reference;
    kept_name_ = inputs.spec["name"].as_string();
    report_.notes.push_back(path + " is gone; the run's own copy of the reference is used");
    return Done{};
  }
  // For a task folder the task is compared after it is read: see check_spec().
  if (!path.ends_with(".py")) return Done{};
  reference_text_ = KW_TRY(os::read_file(path, kMostReferenceBytes));
  return compare_reference(inputs, path);
}

Status Synthesis::compare_reference(const store::RunInputs& inputs, const std::string& path) const {
  if (reference_text_ == inputs.reference) return Done{};
  // A reference that is not stored is known by its hash in the task (see check_spec()).
  if (!request_.models.store_reference) return Done{};
  return input_error(fmt::format(
      "{} is not what this run was started with; start a new one, or put it back\n{}", path,
      unified_diff(inputs.reference, reference_text_, "the run's reference", path)));
}

// Checks that shapes, dtypes, ranges and precision are the same as stored.
Status Synthesis::check_spec(const store::RunInputs& inputs) {
  if (inputs.spec.is_null()) return Done{};
  KW_TRY(compare_reference(inputs, request_.reference));
  // The folder of the task does not matter.
  Json before = inputs.spec, now = task::to_json(*task_);
  for (Json* json : {&before, &now})
    json->set("source_path", "").set("notes", Json()).set("kernel_spec", Json());
  if (before.dump() == now.dump()) return Done{};
  return input_error(
      "the task is not what this run was started with; start a new one, or put it back\n" +
      unified_diff(before.dump(true) + "\n", now.dump(true) + "\n", "the run's task", "now"));
}

void Synthesis::restore_archive() {
  for (const record::Candidate& candidate : run_->candidates()) {
    const Json profile = run_->profile(candidate.id), verdict = run_->judgement(candidate.id);
    // Interrupted before any result: it will be proposed again.
    if (profile.is_null() && verdict.is_null()) continue;
    if (!archive_.add(candidate)) continue;
    const double estimate = profile["rank_us"].as_double(profile["estimate"]["us"].as_double());
    archive_.note(candidate, ports::Outcome::estimate(estimate, profile["at_least"].as_bool()));
    const std::string& name = verdict["verdict"].as_string();
    if (!name.empty() && name != "passed") {
      const std::string reason = verdict["reason"].as_string();
      archive_.note(candidate,
                    ports::Outcome::refusal(name + (reason.empty() ? "" : ": " + reason)));
    } else if (judge_->has_clock()) {
      const Json timing = run_->timing(candidate.id);
      archive_.note(candidate,
                    ports::Outcome::time(timing["rank_us"].as_double(timing["us"].as_double())));
    }
  }
}

// Continues without the damaged files and says so.
void Synthesis::warn_of_damage() {
  const std::vector<std::string> damage = run_->damage();
  for (size_t i = 0; i < std::min(damage.size(), kMostDamageTold); ++i)
    report_.warnings.push_back("the run's folder was damaged: " + damage[i]);
  if (damage.size() > kMostDamageTold)
    report_.warnings.push_back(fmt::format("and {} more like it: kernelwright inspect {}",
                                           damage.size() - kMostDamageTold, run_->folder()));
}

// Restores what models were asked, tried and spent, so that it is neither lost nor repeated.
Status Synthesis::restore_models(const Json& spec) {
  past_models_ = run_->report()["models"];
  if (only_measure_) request_.proposer = "builtin";
  KW_TRY(open_models());
  if (!work_) return Done{};
  KW_TRY(work_->journal->attach(*run_));
  work_->session->restore(stages::past_calls(*run_));
  work_->attempts = stages::past_attempts(*run_);
  if (spec.is_null()) return Done{};
  const stages::KernelSpec frozen = KW_TRY(stages::spec_from_json(spec));
  work_->frozen = frozen;
  return Done{};
}

Result<SynthesisReport> Synthesis::resume(const ContinueRequest& how) {
  run_.emplace(KW_TRY(store::Run::open(how.folder, store::Access::Write)));
  const store::RunInputs inputs = KW_TRY(run_->inputs());
  request_ = request_from_json(inputs.config);
  if (request_.reference.empty())
    return input_error(how.folder + "/inputs/config.json does not say what was asked");
  order_seed_ = static_cast<uint64_t>(inputs.config["order_seed"].as_int());
  request_.prompt = inputs.prompt;
  request_.version = how.version;
  // A server has stated whether it runs programs for its clients: os/permissions.h.
  request_.models.programs = how.programs || os::is_served();
  if (how.seconds) request_.seconds = *how.seconds;
  if (how.candidates) request_.candidates = *how.candidates;
  if (!how.device.empty()) request_.device = how.device;
  request_.timeout_seconds = how.timeout_seconds;
  request_.threads = how.threads;
  request_.machine = how.machine;
  only_measure_ = how.only_measure;
  if (how.evolve && !request_.evolve)
    return input_error(how.folder + " is not an evolve run; continue it with: kernelwright resume");
  if (how.only_measure) request_.evolve.reset();
  if (how.evolve && how.evolve->generations)
    request_.evolve->generations = *how.evolve->generations;
  if (how.evolve && !how.evolve->ensemble.empty()) request_.evolve->ensemble = how.evolve->ensemble;
  if (request_.evolve) KW_TRY(check_evolve(*request_.evolve));
  report_.run_id = run_->id();
  report_.folder = progress_.folder = run_->folder();
  warn_of_damage();
  if (how.budget_usd) request_.models.budget_usd = how.budget_usd;
  request_.models.record = how.record;
  request_.models.replay = how.replay;
  KW_TRY(check_unchanged(inputs, how));
  KW_TRY(restore_models(inputs.spec["kernel_spec"]));
  if (step("reference", &Synthesis::read_reference)) KW_TRY(check_spec(inputs));
  step("machine", &Synthesis::open_machine);
  if (work_) step("interview", &Synthesis::interview);
  if (only_measure_ && lanes_ != nullptr && !lanes_->has_gpu())
    return environment_error("tune measures on a GPU, and there is none: " + machine_->no_gpu());
  if (report_.failed_stage.empty())
    KW_TRY(run_->append("resumed", Json::object().set("env", env_json())));
  return tell_the_rest();
}

Result<std::string> named_run(const std::string& out, const std::string& name) {
  return store::find_run(out.empty() ? store::default_root() : out, name);
}

Result<SynthesisReport> continue_run(const ContinueRequest& request,
                                     const SynthesisWatcher& watcher) {
  return Synthesis(SynthesizeRequest{}, watcher).resume(request);
}

}  // namespace kw::workflows
