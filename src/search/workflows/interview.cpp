// What reference, options and prompt leave open, a model may answer. All else is read without one.
#include "stages/interview.h"

#include "core/text.h"
#include "os/interrupt.h"
#include "workflows/kernel_spec.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

/// The inputs that the model names. Its other answers go to the session.
Result<std::vector<std::string>> ask_what_is_open(Session& session, const std::string& known,
                                                  const std::string& open) {
  ModelWork& work = *session.models;
  stages::InterviewRequest ask;
  ask.reference = session.reference_text;
  ask.prompt = session.request.prompt;
  ask.target = session.request.target;
  ask.known = known;
  ask.open = {open};
  ask.ask = session.request.models.ask;
  stages::InterviewOutcome outcome =
      KW_TRY(stages::interview(work.session->plan(), ask, answers_of(session), *work.journal));
  for (stages::Attempt& attempt : outcome.attempts) work.attempts.push_back(std::move(attempt));
  KW_TRY(os::check_interrupted());
  if (!outcome.answers) {
    session.report.warnings.push_back("interview: " + outcome.problem);
    return std::vector<std::string>();
  }
  if (outcome.answers->priority) work.priority = *outcome.answers->priority;
  work.notes = outcome.answers->notes;
  for (const std::string& question : outcome.answers->questions)
    session.report.notes.push_back("the model asks (--ask lets you answer): " + question);
  return outcome.answers->inputs;
}

}  // namespace

// Neither the user nor the prompt's phrases describe the inputs, so a model reads the prompt.
Result<std::vector<std::string>> inputs_from_model(Session& session, const std::string& problem) {
  if (session.models == nullptr || problem.find("--input") == std::string::npos)
    return std::vector<std::string>();
  return ask_what_is_open(session, "the reference cannot be read without them: " + problem,
                          "dtype and symbolic shape of every input");
}

Status interview(Session& session) {
  ModelWork& work = *session.models;
  task::Task& task = *session.task;
  const SynthesizeRequest& request = session.request;
  const ports::DeviceInfo info = device_of(session).info();
  const arch::Target target =
      KW_TRY(arch::find_target(request.target == "auto" ? info.target : request.target));
  work.target = target_text(target, info.name, info.sms, info.l2_bytes);
  work.interface = KW_TRY(interface_lines(task, target));
  const reference::Phrase* said = session.prompt.find(reference::PhraseKind::Priority);
  work.spec = KW_TRY(kernel_spec(task, target, work.interface, said != nullptr ? said->value : ""));
  if (!request.models.store_reference) work.journal->hide(session.reference_text);
  if (work.frozen) {
    if (said == nullptr) order_shapes(task, work.frozen->optimization_priority);
    work.spec = *work.frozen;
    return Done{};
  }
  if (work.attempts.empty() && !session.prompt.unused.empty()) {
    KW_TRY(ask_what_is_open(
        session, stages::to_json(work.spec).dump(true),
        "what these words of the user mean for the kernel: " + join(session.prompt.unused, "; ")));
  }
  if (said == nullptr && !work.priority.empty()) {
    work.spec.optimization_priority = work.priority;
    order_shapes(task, work.priority);
  }
  if (!work.notes.empty()) work.spec.notes += (work.spec.notes.empty() ? "" : "; ") + work.notes;
  return Done{};
}

}  // namespace kw::workflows
