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
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "os/files.h"
#include "os/permissions.h"
#include "store/find.h"
#include "workflows/model_work.h"
#include "workflows/synthesis.h"

namespace kw::workflows {
namespace {

constexpr size_t kMostDamageTold = 3;

std::string absolute(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed);
  return path.empty() || failed ? path : whole.lexically_normal().string();
}

}  // namespace

template <class V>
void fields(V& v, SynthesizeRequest& r) {
  v("reference", r.reference)("function", r.function)("inputs", r.inputs)("dims", r.dims);
  v("prompt", r.prompt)("elements", r.elements)("target", r.target)("device", r.device);
  v("compiler", r.compiler)("proposer", r.proposer)("seconds", r.seconds);
  v("candidates", r.candidates)("goal", r.goal)("perf_target", r.perf_target);
  v("precision", r.precision)("seed", r.seed)("quick", r.quick)("cross_check", r.cross_check);
  v("baselines", r.baselines)("timeout_seconds", r.timeout_seconds)("threads", r.threads);
  // Reviewers are models too, for every proposer.
  const bool readers = !r.readers.model.empty() || (r.evolve && !r.evolve->readers.model.empty());
  v("models", r.models, When{r.proposer != "builtin" || readers})("evolve", r.evolve, Zero::Omit);
  v("verifiers", r.verifiers)("readers", r.readers)("kernelwright", r.version);
}

Json request_to_json(const SynthesizeRequest& request) {
  SynthesizeRequest kept = request;
  kept.reference = absolute(request.reference);
  return record_json(kept);
}

SynthesizeRequest request_from_json(const Json& json) {
  return read_record<SynthesizeRequest>(json);
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
    halving::Entry& entry = archive_.at(candidate.id);
    entry.estimate_us = profile["rank_us"].as_double(profile["estimate"]["us"].as_double());
    entry.is_lower_bound = profile["at_least"].as_bool();
    const std::string& name = verdict["verdict"].as_string();
    if (!name.empty() && name != "passed") {
      const std::string reason = verdict["reason"].as_string();
      entry.refused = name + (reason.empty() ? "" : ": " + reason);
    } else if (judge_->has_clock()) {
      const Json timing = run_->timing(candidate.id);
      entry.measured_us = timing["rank_us"].as_double(timing["us"].as_double());
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
    KW_TRY(run_->event("resumed", Json::object().set("env", env_json())));
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
