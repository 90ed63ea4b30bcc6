// From a reference to a certified kernel: read the reference, open the machine, search, certify,
// report. The state is one struct (session.h), a step is a function of it, and plan_of() lists the
// steps. A stage that fails skips the following ones, but the report is always written, because the
// user and later tools need the reason. Only what prevents a run folder is returned as an Error. A
// bug of ours (an exception) ends the stage, not the process, so judged candidates are kept.
// Returning at the first Error was the alternative; then the work before it would be lost. A
// resumed run restores the state (continue_run.cpp) and takes the same steps.
#include "workflows/synthesize.h"

#include <cmath>

#include "arch/arch.h"
#include "os/entropy.h"
#include "os/files.h"
#include "os/inside.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

/// The text that a run stores as reference.py, even if the task cannot be read. The reference's
/// name in a task folder is known only to task.toml.
Result<std::string> reference_text(const std::string& path) {
  if (path.empty())
    return input_error("missing required option --reference REF: a Python file or a task folder");
  if (!os::is_directory(path)) return os::read_file(path, kMostReferenceBytes);
  Result<std::string> text = os::read_inside(path, "reference.py", kMostReferenceBytes);
  return text ? std::move(text).value() : std::string();
}

Status check_request(const SynthesizeRequest& request) {
  if (request.evolve) KW_TRY(check_evolve(*request.evolve));
  KW_TRY(review::check_reviewers(request.reviewers, request.verifiers));
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

Status take(Session& session, const SessionStep& step) {
  if (step.kind == StepKind::Always) return step.take(session);
  if (has_failed(session)) return Done{};
  report_progress(session, step.name, "");
  const Status done = traced(session, step.name, step.take);
  if (!done) fail(session, step.name, done.error());
  return Done{};
}

}  // namespace

std::vector<SessionStep> plan_of(const SynthesizeRequest& request) {
  constexpr StepKind kAlways = StepKind::Always;
  const bool evolves = request.evolve.has_value(), models = request.proposer != "builtin";
  const bool writes = models && !evolves;  // models write kernels stage by stage
  const std::pair<bool, SessionStep> all[] = {
      {true, {"reference", read_reference}},
      {true, {"same task", check_same_task, kAlways}},
      {true, {"machine", open_machine}},
      {models, {"interview", interview}},
      {true, {"open run", open_run, kAlways}},
      {!evolves, {"search", search}},
      {evolves, {"evolve", evolve}},
      {writes, {"talk", talk, kAlways}},
      {writes, {"certify", certify_models}},
      {evolves, {"certify", certify_evolved}},
      {writes, {"polish", polish, kAlways}},
      {true, {"conclude", conclude, kAlways}},
      {evolves, {"generalise", try_shapes, kAlways}},
      {true, {"report", write_report, kAlways}},
  };
  std::vector<SessionStep> plan;
  for (const auto& [asked, step] : all) {
    if (asked) plan.push_back(step);
  }
  return plan;
}

Result<SynthesisReport> take_steps(Session& session) {
  for (const SessionStep& step : plan_of(session.request)) KW_TRY(take(session, step));
  return std::move(session.report);
}

Result<SynthesisReport> synthesize(const SynthesizeRequest& request,
                                   const SynthesisWatcher& watcher) {
  KW_TRY(check_request(request));
  Session session;
  session.request = request;
  session.watcher = watcher;
  session.reference_text = KW_TRY(reference_text(request.reference));
  const std::optional<uint64_t> seed = request.evolve ? request.evolve->seed : request.seed;
  session.order_seed = seed ? *seed : KW_TRY(os::random_bits()) >> 1;
  KW_TRY(open_models(session));
  return take_steps(session);
}

}  // namespace kw::workflows
