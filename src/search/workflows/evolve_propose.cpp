// In an evolution some proposals come from operators that need no model, others from models that
// answer slowly. begin() therefore runs an operator at once but asks a model in its own thread;
// finish() waits for the answer. So several models and the judge work at the same time. A prompt
// has the parents, other kernels to compare, shapes, evidence and the latest failures, so a model
// does not repeat them. An answer may be a whole module or blocks that change the parent. A
// provider's failure is data: the evolution decides whether to ask that model again. Waiting for
// each answer was the alternative; the GPU would be idle. Calls in progress at the end are waited
// for, because they are paid for.
#include "workflows/evolve_propose.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/check.h"
#include "core/text.h"
#include "evolve/edit.h"
#include "llm/ledger.h"
#include "os/interrupt.h"
#include "stages/answer_source.h"
#include "stages/conversation.h"
#include "stages/prompts.h"
#include "stages/writer.h"

namespace kw::workflows {
namespace {

constexpr const char* kLabel = "evolve";
constexpr size_t kMostEvidenceBytes = 4000, kMostDetailBytes = 6000;
constexpr size_t kMostFailures = 6;  // shown in a prompt at most
constexpr size_t kShortestId = 6;

evolve::ModelFailure model_failure_of(llm::FailureKind kind) {
  switch (kind) {
    case llm::FailureKind::Auth:
    case llm::FailureKind::Quota:
    case llm::FailureKind::NotFound:
    case llm::FailureKind::Unavailable:
      return evolve::ModelFailure::Lasting;
    case llm::FailureKind::Budget:
      return evolve::ModelFailure::Budget;
    default:
      return evolve::ModelFailure::Passing;
  }
}

llm::Effort effort_of(const std::string& word) {
  if (word == "low") return llm::Effort::Low;
  if (word == "medium") return llm::Effort::Medium;
  return word == "high" ? llm::Effort::High : llm::Effort::Default;
}

std::string speed_text(const ports::Outcome& seen) {
  if (!seen.refused.empty()) return "refused: " + seen.refused;
  if (seen.us <= 0) return "not judged yet";
  return fmt::format("right, {:.2f} us ({})", seen.us, seen.measured ? "measured" : "estimated");
}

}  // namespace

Result<std::unique_ptr<TaskDesigns>> TaskDesigns::make(const task::Task& task,
                                                       const generate::Options& options) {
  std::unique_ptr<TaskDesigns> designs(new TaskDesigns(task, options));
  for (const generate::Design& design : KW_TRY(generate::designs(task, options)))
    designs->names_.push_back(generate::design_text(design));
  return designs;
}

Result<std::string> TaskDesigns::text(const std::string& name, bool switches) {
  generate::Design design;
  for (const std::string& choice : split(name, ' ')) {
    const size_t equals = choice.find('=');
    if (equals == std::string::npos) return input_error("'" + name + "' is not a design");
    design.choices.push_back({choice.substr(0, equals), choice.substr(equals + 1)});
  }
  generate::Options options = options_;
  options.switches = switches;
  return generate::generate(task_, design, options);
}

EvolveAuthor::~EvolveAuthor() {
  for (auto& [number, pending] : pending_) {
    if (pending->answer.valid()) pending->answer.wait();
  }
}

Status EvolveAuthor::begin(const evolve::ProposalRequest& request,
                           const evolve::Population& archive) {
  if (!request.arm.empty()) {
    pending_[request.number] = KW_TRY(ask(request, archive));
    return Done{};
  }
  evolve::Proposal proposal;
  if (request.only_this) {
    proposal.candidate = mutator_.tune(request, archive);
  } else {
    proposal.candidate = KW_TRY(mutator_.mutate(request, archive));
    proposal.exhausted = !proposal.candidate;
  }
  if (!proposal.candidate) proposal.problem = "no untried candidate is left";
  mutated_[request.number] = std::move(proposal);
  return Done{};
}

Status EvolveAuthor::finish_calls() {
  for (auto& [number, pending] : pending_) {
    const llm::Outcome outcome = pending->answer.get();
    KW_TRY(models_->journal->exchange(pending->request.label, pending->request, outcome));
  }
  pending_.clear();
  return Done{};
}

std::string EvolveAuthor::shown(const evolve::Entry& entry, const char* title) const {
  const record::Candidate& one = entry.candidate;
  std::string tunes;
  for (const auto& [name, value] : one.tunes) tunes += fmt::format(" {}={}", name, value);
  std::string out = fmt::format("{} ({}): {}{}\n", title, one.origin, speed_text(entry.outcome),
                                tunes.empty() ? "" : ", with" + tunes);
  out += fmt::format("module {}:\n{}\n", one.id, stages::data("cuda", one.text));
  if (!entry.outcome.detail.empty())
    out += "What was found:\n" +
           stages::data("data", stages::shortened(entry.outcome.detail, kMostDetailBytes)) + "\n";
  if (entry.alive() && models_->evidence) {
    const std::string evidence = models_->evidence(one);
    if (!evidence.empty())
      out += "What limits it:\n" +
             stages::data("data", stages::shortened(evidence, kMostEvidenceBytes)) + "\n";
  }
  return out;
}

// The latest failures, one line each.
std::string EvolveAuthor::failures(const evolve::Population& archive) const {
  std::vector<std::string> lines;
  for (auto at = archive.entries().rbegin(); at != archive.entries().rend(); ++at) {
    const bool repeated = !at->same_as.empty();
    if ((at->alive() && !repeated) || at->candidate.model.empty() || lines.size() == kMostFailures)
      continue;
    lines.push_back(fmt::format("{} ({}): {}", at->candidate.id, at->candidate.stage,
                                repeated ? "compiles to exactly the code of " + at->same_as
                                         : std::string(split_lines(at->outcome.refused).front())));
  }
  const size_t begin = unusable_.size() > kMostFailures ? unusable_.size() - kMostFailures : 0;
  for (size_t i = begin; i < unusable_.size(); ++i)
    lines.push_back("an answer could not be used: " + unusable_[i]);
  if (lines.empty()) return "";
  return "What failed lately; do not repeat it:\n" + stages::data("data", join(lines, "\n"));
}

std::string EvolveAuthor::told(const evolve::ProposalRequest& request,
                               const evolve::Population& archive) const {
  std::string parents, context;
  for (size_t i = 0; i < request.parents.size(); ++i) {
    const evolve::Entry* entry = archive.find(request.parents[i]);
    if (entry != nullptr)
      parents += shown(*entry, i == 0 ? "The first parent" : "The other parent");
  }
  for (const std::string& id : request.context) {
    if (const evolve::Entry* entry = archive.find(id)) context += shown(*entry, "Another kernel");
  }
  return stages::prompt(
      "evolve",
      {{"request", stages::prompt(std::string("evolve_") + evolve::operator_name(request.op))},
       {"parents", parents},
       {"context", context.empty() ? "" : "For comparison:\n\n" + context},
       {"shapes", models_->shapes},
       {"failures", failures(archive)}});
}

Result<std::unique_ptr<EvolveAuthor::PendingAnswer>> EvolveAuthor::ask(
    const evolve::ProposalRequest& request, const evolve::Population& archive) {
  KW_CHECK(models_.has_value(), "models are asked only where there are some");
  const auto arm = std::ranges::find(models_->arms, request.arm, &evolve::Arm::name);
  KW_CHECK(arm != models_->arms.end(), "requests name arms of the ensemble");
  auto pending = std::make_unique<PendingAnswer>();
  pending->model = KW_TRY(llm::parse_model_id(arm->model, models_->session->client().config()));
  for (const evolve::Entry& entry : archive.entries())
    pending->sources[entry.candidate.id] = entry.candidate.text;
  stages::Conversation conversation(stages::system_blocks(models_->input), {});
  const std::string text = told(request, archive);
  conversation.say(text);
  pending->request = conversation.request(
      fmt::format("{} {} {}", kLabel, request.number + 1, evolve::operator_name(request.op)),
      pending->model.context_tokens);
  pending->request.temperature = arm->temperature;
  pending->request.reasoning.effort = effort_of(arm->effort);
  KW_TRY(models_->journal->write(
      fmt::format("stage_evolve/{:04}/prompt_to_llm.md", request.number + 1), text + "\n"));
  pending->answer = std::async([session = models_->session, id = pending->model,
                                                    asked = pending->request] {
    return session->answer(id, asked, llm::Watch{});
  });
  return pending;
}

evolve::Proposal EvolveAuthor::read(const evolve::ProposalRequest& request,
                                    const PendingAnswer& pending, const llm::Reply& reply) {
  const std::string parent = request.parents.empty() ? "" : request.parents.front();
  const stages::FindParent find =
      [&](const std::string& id) -> std::optional<std::pair<std::string, std::string>> {
    const std::string wanted = id.empty() ? parent : id;
    if (wanted.size() < kShortestId) return std::nullopt;
    for (const auto& [name, text] : pending.sources) {
      if (name.starts_with(wanted)) return std::pair(name, text);
    }
    return std::nullopt;
  };
  const Result<std::string> text = [&]() -> Result<std::string> {
    if (!evolve::has_blocks(reply.text))
      return KW_TRY(stages::read_submission(reply.text, find)).module;
    const auto source = pending.sources.find(parent);
    if (source == pending.sources.end())
      return input_error("there is no module that blocks could change");
    return evolve::apply_blocks(source->second, reply.text);
  }();
  evolve::Proposal proposal;
  if (!text) {
    proposal.problem = text.error().message;
    unusable_.push_back(std::string(split_lines(proposal.problem).front()));
    return proposal;
  }
  proposal.candidate = record::make_candidate(
      *text, {}, "llm", fmt::format("{} by {}", evolve::operator_name(request.op), request.arm),
      request.parents);
  proposal.candidate->model = pending.model.text();
  proposal.candidate->stage = evolve::operator_name(request.op);
  proposal.candidate->attempt = static_cast<int>(request.number + 1);
  if (pending.sources.contains(proposal.candidate->id))
    unusable_.push_back("it is module " + proposal.candidate->id + " unchanged");
  return proposal;
}

Status EvolveAuthor::note(const evolve::ProposalRequest& request, const PendingAnswer& pending,
                          const evolve::Proposal& proposal) {
  stages::Attempt attempt;
  attempt.stage = kLabel;
  attempt.number = static_cast<int>(request.number + 1);
  attempt.model = pending.model.text();
  attempt.succeeded = proposal.candidate.has_value();
  if (proposal.candidate) attempt.candidate = proposal.candidate->id;
  attempt.outcome = proposal.candidate ? evolve::operator_name(request.op) : proposal.problem;
  attempts_.push_back(attempt);
  return models_->journal->attempt(attempt);
}

Result<evolve::Proposal> EvolveAuthor::finish(const evolve::ProposalRequest& request) {
  if (const auto mutated = mutated_.find(request.number); mutated != mutated_.end()) {
    evolve::Proposal proposal = std::move(mutated->second);
    mutated_.erase(mutated);
    return proposal;
  }
  const auto at = pending_.find(request.number);
  KW_CHECK(at != pending_.end(), "a request is begun before it is finished");
  const std::unique_ptr<PendingAnswer> pending = std::move(at->second);
  pending_.erase(at);
  const llm::Outcome outcome = pending->answer.get();
  KW_TRY(models_->journal->exchange(pending->request.label, pending->request, outcome));
  KW_TRY(os::check_interrupted());
  evolve::Proposal proposal;
  if (outcome) {
    KW_TRY(models_->journal->write(
        fmt::format("stage_evolve/{:04}/llm_response.md", request.number + 1),
        outcome->text + "\n"));
    proposal = read(request, *pending, *outcome);
  } else {
    // Ctrl-C returned above. Here only the evolution's time ended, so no model failed.
    const bool late = outcome.failure().kind == llm::FailureKind::Cancelled;
    if (!late) failure_ = outcome.failure();
    proposal.problem =
        late ? "the time was up before there was an answer" : outcome.failure().error().message;
    proposal.failure = late ? evolve::ModelFailure::None : model_failure_of(outcome.failure().kind);
  }
  const llm::Config& config = models_->session->client().config();
  proposal.usd = llm::charge_of(pending->request, outcome,
                                config.price(pending->model.provider, pending->model.model))
                     .usd;
  KW_TRY(note(request, *pending, proposal));
  return proposal;
}

}  // namespace kw::workflows
