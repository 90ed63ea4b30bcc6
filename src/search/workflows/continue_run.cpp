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
#include "workflows/run_damage.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

constexpr size_t kMostDamageTold = 3;

std::string absolute(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed);
  return path.empty() || failed ? path : whole.lexically_normal().string();
}

}  // namespace

void fields(auto& v, SynthesizeRequest& r) {
  v("reference", r.reference)("function", r.function)("inputs", r.inputs)("dims", r.dims);
  v("mode", r.mode, Zero::Omit);
  v("prompt", r.prompt)("elements", r.elements)("target", r.target)("device", r.device);
  v("compiler", r.compiler)("proposer", r.proposer)("seconds", r.seconds);
  v("candidates", r.candidates)("goal", r.goal)("perf_target", r.perf_target);
  v("precision", r.precision)("seed", r.seed)("quick", r.quick)("cross_check", r.cross_check);
  v("baselines", r.baselines)("timeout_seconds", r.timeout_seconds)("threads", r.threads);
  v("budget_seconds", r.budget_seconds);
  // Reviewers are models too, for every proposer.
  const bool reviewers =
      !r.reviewers.model.empty() || (r.evolve && !r.evolve->reviewers.model.empty());
  v("models", r.models, When{r.proposer != "builtin" || reviewers})("evolve", r.evolve, Zero::Omit);
  v("verifiers", r.verifiers)("readers", r.reviewers)("kernelwright", r.version);
}

Json request_to_json(const SynthesizeRequest& request) {
  SynthesizeRequest kept = request;
  kept.reference = absolute(request.reference);
  return record_json(kept);
}

SynthesizeRequest request_from_json(const Json& json) {
  return read_record<SynthesizeRequest>(json);
}

namespace {

Status compare_reference(const Session& session, const std::string& path) {
  const std::string& before = session.stored->reference;
  if (session.reference_text == before) return Done{};
  // A reference that is not stored is known by its hash in the task: see check_same_task().
  if (!session.request.models.store_reference) return Done{};
  return input_error("{} changed since this run started; restore it or start a new run\n{}", path,
                     unified_diff(before, session.reference_text, "the run's reference", path));
}

Status check_unchanged(Session& session, const std::string& folder) {
  const std::string path = session.request.reference;
  KW_TRY(os::check_named(path));
  if (!os::exists(path)) {
    if (!session.request.models.store_reference)
      return input_error(path + " was deleted and this run has no copy (--no-store-reference)");
    // The run's copy is enough if the reference needs no folder around it.
    session.request.reference = folder + "/inputs/reference.py";
    session.reference_text = session.stored->reference;
    session.kept_name = session.stored->spec["name"].as_string();
    session.report.notes.push_back(path +
                                   " was deleted; the run's own copy of the reference is used");
    return Done{};
  }
  // For a task folder the task is compared after it is read: see check_same_task().
  if (!path.ends_with(".py")) return Done{};
  session.reference_text = KW_TRY(os::read_file(path, kMostReferenceBytes));
  return compare_reference(session, path);
}

// Continues without the damaged files and says so.
void warn_of_damage(const store::Run& run, std::vector<std::string>& warnings) {
  const std::vector<std::string> damage = damage_of(run);
  for (size_t i = 0; i < std::min(damage.size(), kMostDamageTold); ++i)
    warnings.push_back("the run's folder was damaged: " + damage[i]);
  if (damage.size() > kMostDamageTold)
    warnings.push_back(fmt::format("and {} more like it: kernelwright inspect {}",
                                   damage.size() - kMostDamageTold, run.folder()));
}

// Restores what models were asked, tried and spent, so that it is neither lost nor repeated.
Status restore_models(Session& session) {
  session.past_models = session.run->report()["models"];
  if (session.only_measure) session.request.proposer = "builtin";
  KW_TRY(open_models(session));
  if (!session.models) return Done{};
  KW_TRY(session.models->journal->attach(*session.run));
  const std::vector<llm::LedgerEntry> calls = stages::past_calls(*session.run);
  session.models->session->restore(calls);
  if (const int64_t lost = llm::unsettled(calls); lost > 0)
    session.report.warnings.push_back(fmt::format(
        "{} call{} to models had no recorded answer when the run was killed; what {} can have cost "
        "at most counts as spent",
        lost, lost == 1 ? "" : "s", lost == 1 ? "it" : "they"));
  session.models->attempts = stages::past_attempts(*session.run);
  const Json& spec = session.stored->spec["kernel_spec"];
  if (spec.is_null()) return Done{};
  const stages::KernelSpec frozen = KW_TRY(stages::spec_from_json(spec));
  session.models->frozen = frozen;
  return Done{};
}

// The request as stored, with what the user changed.
Status restore_request(SynthesizeRequest& request, const store::RunInputs& stored,
                       const ContinueRequest& how) {
  request = request_from_json(stored.config);
  if (request.reference.empty())
    return input_error(how.folder + "/inputs/config.json has no request");
  request.prompt = stored.prompt;
  request.version = how.version;
  if (!how.reference.empty()) request.reference = how.reference;
  if (how.seconds) request.seconds = *how.seconds;
  if (how.candidates) request.candidates = *how.candidates;
  if (!how.device.empty()) request.device = how.device;
  request.timeout_seconds = how.timeout_seconds;
  request.threads = how.threads;
  request.machine = how.machine;
  // A server has stated whether it runs programs for its clients: os/permissions.h.
  request.models.programs = how.programs || os::is_served();
  stages::take_limits(request.models, how.limits);
  request.models.record = how.record;
  request.models.replay = how.replay;
  if (how.evolve && !request.evolve)
    return input_error(how.folder + " is not an evolve run; continue it with: kernelwright resume");
  if (how.only_measure) request.evolve.reset();
  if (how.evolve && how.evolve->generations) request.evolve->generations = *how.evolve->generations;
  if (how.evolve && !how.evolve->ensemble.empty()) request.evolve->ensemble = how.evolve->ensemble;
  return request.evolve ? check_evolve(*request.evolve) : Done{};
}

}  // namespace

// Checks that shapes, dtypes, ranges and precision are the same as stored.
Status check_same_task(Session& session) {
  if (!session.stored || has_failed(session) || session.stored->spec.is_null()) return Done{};
  KW_TRY(compare_reference(session, session.request.reference));
  // The folder of the task does not matter.
  Json before = session.stored->spec, now = task::to_json(*session.task);
  for (Json* json : {&before, &now})
    json->set("source_path", "").set("notes", Json()).set("kernel_spec", Json());
  if (before.dump() == now.dump()) return Done{};
  return input_error(
      "the task changed since this run started; restore it or start a new run\n" +
      unified_diff(before.dump(true) + "\n", now.dump(true) + "\n", "the run's task", "now"));
}

namespace {

/// Whether the verdict says nothing about the kernel: evidence was missing, or an earlier version
/// took a failure of the machine for the candidate's.
bool is_undecided(const Json& verdict) {
  if (verdict["verdict"].as_string() == "unknown") return true;
  if (verdict["verdict"].as_string() != "rejected" || verdict["stage"].as_string() != "compile")
    return false;
  const std::string& why = verdict["reason"].as_string();
  return why.find("the compiler ran out of memory") != std::string::npos ||
         why.find("the compiler died on this source") != std::string::npos;
}

}  // namespace

void restore_archive(Session& session) {
  const store::Run& run = *session.run;
  for (const record::Candidate& candidate : run.candidates()) {
    // What this user's key does not vouch for is judged again. The built-in proposer of a search
    // proposes its candidates again; others stay, without their results.
    const bool believed = run.is_vouched(candidate.id) && !run.is_altered(candidate.id);
    const bool comes_again = candidate.proposer == "builtin" && !session.request.evolve;
    if (!believed && comes_again) continue;
    const Json profile = run.profile(candidate.id), verdict = run.judgement(candidate.id);
    // Interrupted before any result: it will be proposed again.
    if (profile.is_null() && verdict.is_null()) continue;
    if (is_undecided(verdict) && comes_again) continue;  // the same
    if (!session.archive.add(candidate)) continue;
    const double estimate = profile["rank_us"].as_double(profile["estimate"]["us"].as_double());
    const bool at_least = profile["at_least"].as_bool();
    session.archive.note(candidate, ports::Outcome::estimate(estimate, at_least));
    if (!believed || is_undecided(verdict)) continue;
    const std::string& name = verdict["verdict"].as_string();
    if (!name.empty() && name != "passed") {
      const std::string reason = verdict["reason"].as_string();
      const std::string why = name + (reason.empty() ? "" : ": " + reason);
      session.archive.note(candidate, ports::Outcome::refusal(why));
    } else if (session.judge->has_clock()) {
      const Json timing = run.timing(candidate.id);
      const double us = timing["rank_us"].as_double(timing["us"].as_double());
      session.archive.note(candidate, ports::Outcome::time(us));
    }
  }
}

Result<std::string> named_run(const std::string& out, const std::string& name) {
  return store::find_run(out.empty() ? store::default_root() : out, name);
}

Result<SynthesisReport> continue_run(const ContinueRequest& request,
                                     const SynthesisWatcher& watcher) {
  Session session;
  session.watcher = watcher;
  session.run.emplace(KW_TRY(store::Run::open(request.folder, store::Access::Write)));
  session.stored = KW_TRY(session.run->inputs());
  session.order_seed = static_cast<uint64_t>(session.stored->config["order_seed"].as_int());
  session.only_measure = request.only_measure;
  KW_TRY(restore_request(session.request, *session.stored, request));
  session.report.run_id = session.run->id();
  session.report.folder = session.progress.folder = session.run->folder();
  warn_of_damage(*session.run, session.report.warnings);
  KW_TRY(check_unchanged(session, request.folder));
  KW_TRY(restore_models(session));
  return take_steps(session);
}

}  // namespace kw::workflows
