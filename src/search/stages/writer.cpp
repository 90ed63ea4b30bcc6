// One try of a model: a conversation in which the model may call tools and then submits a module.
// The tools compile, run and verify drafts, so many errors are found before the attempt counts.
// Tool rounds are limited to 12 and calls per answer to 8, because some models call tools without
// end. If the model stops without a module, the last module that a tool examined is taken as its
// answer. Without tools each draft would need an attempt of its own. The cost: the conversation is
// sent again for each round of tools.
#include "stages/writer.h"

#include <fmt/core.h>

#include "core/text.h"
#include "kernel/parse_module.h"
#include "kernel/select.h"
#include "stages/prompts.h"

namespace kw::stages {
namespace {

constexpr int kMostRounds = 12;        // of tool calls in one try
constexpr size_t kMostCalls = 8;       // in one answer
constexpr size_t kShortestPrefix = 4;  // of an id
constexpr size_t kMostQuoted = 200;    // bytes of an answer in a message

/// The values that a module uses by default.
std::map<std::string, int64_t> first_values(const std::string& text) {
  const kernel::ParseOutcome parsed = kernel::parse(text, "module.cu");
  if (!parsed.module) return {};
  const auto space = kernel::tune_space(*parsed.module, 1);
  return space.empty() ? std::map<std::string, int64_t>{} : space.front();
}

std::string calls_text(const llm::Reply& reply) {
  std::string out;
  for (const llm::ToolCall& call : reply.calls)
    out += fmt::format("\n## tool call {}\n\n{}\n", call.name, data("json", call.arguments));
  return out;
}

std::string try_label(const TryRequest& request) {
  return fmt::format("{} attempt {}", stage_name(request.stage), request.number);
}

}  // namespace

std::vector<llm::SystemBlock> system_blocks(const StageInput& input) {
  const std::string asked = input.prompt.empty() ? "(nothing)" : data("data", input.prompt);
  return {{prompt("contract") + "\n" +
               prompt("machine", {{"target", input.target}, {"catalogue", catalog_text("")}}),
           llm::Cache::Mark},
          {prompt("task", {{"name", input.name},
                           {"reference", data("python", input.reference)},
                           {"prompt", asked},
                           {"spec", data("json", input.spec)},
                           {"interface", data("cuda", input.interface)}}),
           llm::Cache::Mark}};
}

Writer::Writer(const ModelPlan& plan, const StageInput& input, const Ports& ports)
    : plan_(plan), input_(input), ports_(ports), conversation_({}, {}) {
  if (input.built_in) set_current(*input.built_in);
}

void Writer::begin(bool with_tools) {
  conversation_ =
      Conversation(system_blocks(input_), with_tools ? tools() : std::vector<llm::Tool>{});
}

const llm::ModelId& Writer::model(const TryRequest& request) const {
  return request.escalated ? plan_.escalation : plan_.model(request.stage);
}

std::string Writer::remember(const record::Candidate& candidate) {
  modules_.emplace(candidate.id, candidate);
  return candidate.id;
}

std::optional<std::pair<std::string, std::string>> Writer::find(const std::string& id) const {
  if (id.empty()) {
    const auto at = modules_.find(current_);
    if (at == modules_.end()) return std::nullopt;
    return std::pair(at->first, at->second.text);
  }
  if (id.size() < kShortestPrefix) return std::nullopt;
  for (const auto& [name, candidate] : modules_) {
    if (name.starts_with(id)) return std::pair(name, candidate.text);
  }
  if (!ports_.known) return std::nullopt;
  const auto known = ports_.known(id);
  if (!known) return std::nullopt;
  return std::pair(known->id, known->text);
}

record::Candidate Writer::candidate(const TryRequest& request, const Submission& submission) {
  const std::string id = model(request).text();
  std::vector<std::string> parents;
  if (!submission.parent.empty()) parents.push_back(submission.parent);
  record::Candidate made = record::make_candidate(
      submission.module, first_values(submission.module), "llm",
      fmt::format("{} {} by {}", stage_name(request.stage), request.number, id), parents);
  made.model = id;
  made.stage = stage_name(request.stage);
  made.attempt = request.number;
  remember(made);
  return made;
}

Result<std::optional<llm::Reply>> Writer::ask(const TryRequest& request, int round) {
  llm::Request sent = conversation_.request(try_label(request), model(request).context_tokens);
  if (round == 0)
    KW_TRY(ports_.journal->write(request.folder + "/prompt_to_llm.md",
                                 conversation_.messages().back().text + "\n"));
  if (ports_.report_progress)
    ports_.report_progress(
        stage_name(request.stage),
        fmt::format("asking {}, attempt {}", model(request).text(), request.number));
  const llm::Outcome outcome = ports_.answer(model(request), sent);
  KW_TRY(ports_.journal->exchange(sent.label, sent, outcome));
  if (!outcome) {
    failure_ = outcome.failure();
    return std::optional<llm::Reply>{};
  }
  conversation_.add_reply(*outcome);
  return std::optional(*outcome);
}

Status Writer::run_calls(const TryRequest& request, const llm::Reply& reply, int round) {
  ToolContext context;
  context.judge = ports_.judge;
  context.parent = [this](const std::string& id) { return find(id); };
  context.candidate = [&](const Submission& submission) { return candidate(request, submission); };
  std::vector<llm::ToolResult> results;
  std::string record = calls_text(reply);
  for (size_t i = 0; i < reply.calls.size(); ++i) {
    const llm::ToolCall& call = reply.calls[i];
    if (i >= kMostCalls) {
      results.push_back({call.id, call.name,
                         fmt::format("not run: at most {} calls in one answer", kMostCalls), true});
      continue;
    }
    if (ports_.report_progress)
      ports_.report_progress(stage_name(request.stage), "tool " + call.name);
    ToolAnswer answer = KW_TRY(run_tool(call, context));
    if (!answer.candidate.empty()) looked_at_ = current_ = answer.candidate;
    record += fmt::format("\n## result of {}\n\n{}\n", call.name, answer.result.content);
    results.push_back(std::move(answer.result));
  }
  conversation_.answer_calls(std::move(results));
  if (round + 2 == kMostRounds)
    conversation_.say("No further tool calls are run in this attempt: answer with the module now.");
  return ports_.journal->write(fmt::format("{}/tools_{:02}.md", request.folder, round + 1),
                               reply.text + "\n" + record);
}

Try Writer::last_examined() const {
  const auto at = modules_.find(looked_at_);
  return at == modules_.end() ? Try{} : Try{at->second, ""};
}

Try Writer::read(const TryRequest& request, const llm::Reply& reply) {
  if (reply.stop == llm::StopReason::Refusal)
    return {std::nullopt, "the answer is a refusal: " + reply.text.substr(0, kMostQuoted)};
  const Result<Submission> submission =
      read_submission(reply.text, [this](const std::string& id) { return find(id); });
  if (submission) return {candidate(request, *submission), ""};
  // A module that a tool examined also counts as an answer.
  if (!looked_at_.empty() && fenced_blocks(reply.text).empty()) return last_examined();
  std::string problem = submission.error().message;
  if (reply.stop == llm::StopReason::Length)
    problem += "; the answer was cut at its length limit: answer with less text, or with a diff";
  return {std::nullopt, problem};
}

Result<Try> Writer::submit(const TryRequest& request) {
  looked_at_.clear();
  for (int round = 0; round < kMostRounds; ++round) {
    const std::optional<llm::Reply> reply = KW_TRY(ask(request, round));
    if (!reply) return Try{};
    if (!reply->calls.empty()) {
      KW_TRY(run_calls(request, *reply, round));
      continue;
    }
    KW_TRY(ports_.journal->write(request.folder + "/llm_response.md", reply->text + "\n"));
    Try made = read(request, *reply);
    if (made.candidate) set_current(*made.candidate);
    return made;
  }
  Try made = last_examined();
  if (!made.candidate)
    made.problem = fmt::format("{} rounds of tool calls without an answer", kMostRounds);
  return made;
}

}  // namespace kw::stages
