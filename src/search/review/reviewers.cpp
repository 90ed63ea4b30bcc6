// Three specialists review a module: one for compilation, one for memory, one for numerics. Each
// has its own instructions and is asked in its own thread. One prompt for all fields would cost a
// third, but its votes could not be measured and tuned per field. A model that fails or gives an
// unusable answer only abstains, because a run must not depend on reviewers. After a lasting
// failure, or three modules without any answer, no more models are asked, so a failed provider does
// not delay every module. The cost: the reference and the module are sent three times.
#include "review/reviewers.h"

#include <fmt/core.h>


#include "core/text.h"
#include "llm/request.h"
#include "os/files.h"
#include "os/inside.h"
#include "os/parallel.h"
#include "review/shown.h"
#include "stages/prompts.h"

namespace kw::review {
namespace {

constexpr int kMostFailed = 3;
constexpr size_t kMostReferenceBytes = 20'000, kMostModuleBytes = 120'000;

int64_t line_count(const std::string& text) {
  return static_cast<int64_t>(split_lines(text).size());
}

/// Why a reply cannot be used; "" when it can.
std::string unreadable(const llm::Reply& reply) {
  if (reply.stop == llm::StopReason::Length) return "the answer was cut by its length limit";
  if (reply.stop == llm::StopReason::Refusal) return "the model refused";
  return "";
}

void read_answer(const llm::Reply& reply, int64_t lines, Vote& vote) {
  const std::string problem = unreadable(reply);
  Result<Vote> parsed = problem.empty() ? parse_vote(vote.field, reply.text, lines)
                                        : Result<Vote>(input_error(problem));
  if (!parsed) {
    vote.call = ReviewCall::None;
    vote.confidence = 0;
    vote.reasons.clear();
    vote.abstained = parsed.error().message;
    return;
  }
  vote.call = parsed->call;
  vote.confidence = parsed->confidence;
  vote.reasons = std::move(parsed->reasons);
  vote.abstained = std::move(parsed->abstained);
}

/// One exchange, charged to the vote; not set when it failed.
std::optional<llm::Reply> exchange(const llm::ModelId& model, const llm::Request& request,
                                   const stages::Answer& answer, const Price& price,
                                   AskResult& asked) {
  const llm::Outcome outcome = answer(model, request);
  const bool known_before = asked.vote.calls == 0 || asked.vote.usd.has_value();
  const std::optional<double> cost = price ? price(model, request, outcome) : std::nullopt;
  ++asked.vote.calls;
  asked.vote.usd =
      known_before && cost ? std::optional(asked.vote.usd.value_or(0) + *cost) : std::nullopt;
  asked.vote.seconds += outcome ? outcome->latency_seconds : outcome.failure().latency_seconds;
  if (outcome) return *outcome;
  asked.failure = outcome.failure();
  return std::nullopt;
}

/// Failures that would also happen for the next module.
bool lasting(const llm::Failure& failure) {
  return !failure.passing() && failure.kind != llm::FailureKind::TooLarge &&
         failure.kind != llm::FailureKind::Refused &&
         failure.kind != llm::FailureKind::InvalidReply;
}

}  // namespace

llm::Request question(const Specialist& specialist, const Case& one, const AskOptions& options) {
  llm::Request request;
  request.model = specialist.model.model;
  request.system.push_back({stages::prompt("verify_rules"), llm::Cache::No});
  request.system.push_back({specialist.instructions, llm::Cache::Mark});
  const std::string module =
      stages::shortened(numbered(shown_module(one.module)), kMostModuleBytes);
  request.messages.push_back(llm::user_message(stages::prompt(
      "verify_case",
      {{"reference", stages::data("python", stages::shortened(one.reference, kMostReferenceBytes))},
       {"module", stages::data("cuda", module)}})));
  request.max_tokens = options.max_tokens;
  request.label = fmt::format("verify {}", field_name(specialist.field));
  return request;
}

AskResult ask(const Specialist& specialist, const Case& one, const AskOptions& options,
              const stages::Answer& answer, const Price& price) {
  AskResult asked;
  asked.vote.field = specialist.field;
  const int64_t lines = line_count(one.module);
  llm::Request request = question(specialist, one, options);
  std::optional<llm::Reply> reply = exchange(specialist.model, request, answer, price, asked);
  if (!reply) {
    asked.vote.abstained = asked.failure->error().message;
    return asked;
  }
  read_answer(*reply, lines, asked.vote);
  if (!options.reflect || asked.vote.call == ReviewCall::None) return asked;
  request.messages.push_back(llm::assistant_message(*reply));
  request.messages.push_back(llm::user_message(stages::prompt("verify_reflect")));
  request.label += " again";
  reply = exchange(specialist.model, request, answer, price, asked);
  // If the second exchange fails, the first answer counts.
  if (reply) read_answer(*reply, lines, asked.vote);
  return asked;
}

std::string shipped_instructions(Field field) {
  return stages::prompt(fmt::format("verify_{}", field_name(field)));
}

std::string instruction_file(Field field) {
  return fmt::format("verify_{}.txt", field_name(field));
}

Result<std::map<Field, std::string>> load_instructions(const std::string& folder) {
  if (!os::is_directory(folder)) return input_error("there is no folder {}", folder);
  std::map<Field, std::string> all;
  bool found = false;
  for (const Field field : kFields) {
    const std::string path = folder + "/" + instruction_file(field);
    if (!os::exists(path)) {
      all[field] = shipped_instructions(field);
      continue;
    }
    found = true;
    all[field] = KW_TRY(os::read_inside(folder, instruction_file(field), kMostInstructionBytes));
    if (trim(all[field]).empty()) return input_error(path + " is empty");
  }
  if (!found)
    return input_error(
        "{} holds none of verify_compile.txt, verify_memory.txt, verify_numerics.txt", folder);
  return all;
}

Reviewers::Reviewers(std::vector<Specialist> specialists, AskOptions options, Policy policy,
                     Price price)
    : specialists_(std::move(specialists)),
      options_(options),
      policy_(policy),
      price_(std::move(price)) {}

std::string Reviewers::why_stopped() const {
  const std::lock_guard lock(mutex_);
  return silenced_;
}

Opinion Reviewers::look(const Case& one, const stages::Answer& answer) {
  std::vector<AskResult> asked(specialists_.size());
  const std::string silenced_before = why_stopped();
  const auto all = static_cast<int64_t>(specialists_.size());
  os::parallel_for(static_cast<int>(all), all, [&](int, int64_t unit) {
    const auto i = static_cast<size_t>(unit);
    asked[i].vote.field = specialists_[i].field;
    if (!silenced_before.empty())
      asked[i].vote.abstained = silenced_before;
    else
      asked[i] = ask(specialists_[i], one, options_, answer, price_);
  });
  if (silenced_before.empty()) note_failures(asked);
  std::vector<Vote> votes;
  for (AskResult& each : asked) votes.push_back(std::move(each.vote));
  return aggregate(std::move(votes), policy_);
}

void Reviewers::note_failures(const std::vector<AskResult>& asked) {
  const std::lock_guard lock(mutex_);
  bool all = !asked.empty();
  for (const AskResult& each : asked) {
    all = all && each.failure;
    if (each.failure && lasting(*each.failure)) silenced_ = each.failure->error().message;
  }
  failed_ = all ? failed_ + 1 : 0;
  if (failed_ >= kMostFailed && silenced_.empty())
    silenced_ = asked.front().failure->error().message;
}

}  // namespace kw::review
