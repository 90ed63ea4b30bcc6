#include "stages/model_branches.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/contains.h"
#include "core/text.h"
#include "stages/answer_source.h"
#include "stages/conversation.h"
#include "stages/prompts.h"
#include "stages/writer.h"

namespace kw::stages {
namespace {

constexpr const char* kStageName = "optimize";
constexpr const char* kParentName = "parent";
constexpr size_t kMostEvidence = 12'000;
constexpr size_t kMostFailure = 2'000;

std::string methods_text(const BranchesRequest& request) {
  std::string out;
  for (size_t i = 0; i < request.methods.size(); ++i) {
    const std::string said = i < request.guidance.size() ? request.guidance[i] : "";
    out += fmt::format("{}. {}\n{}\n", i + 1, request.methods[i], trim(said));
  }
  return out;
}

std::string failures_text(const BranchesRequest& request) {
  if (request.failures.empty()) return "";
  std::string list;
  for (const std::string& one : request.failures) list += shortened(one, kMostFailure) + "\n";
  return "All branches of the try before failed; do not repeat their mistakes:\n" +
         data("data", list);
}

std::string opening(const BranchesRequest& request) {
  return prompt("optimize",
                {{"branches", std::to_string(std::max(1, request.branches))},
                 {"parent", data("cuda", request.parent)},
                 {"methods", methods_text(request)},
                 {"inherited", request.inherited.empty() ? "none" : join(request.inherited, ", ")},
                 {"evidence", data("data", shortened(request.evidence, kMostEvidence))},
                 {"failures", failures_text(request)}});
}

bool may_be_source(const Block& block) {
  static const std::vector<std::string> kWords = {"", "cuda", "cu", "cpp", "c++", "c", "diff"};
  return contains(kWords, block.word);
}

Status note(Journal& journal, const ModelPlan& plan, int number, const BranchesOutcome& outcome) {
  Attempt attempt;
  attempt.stage = kStageName;
  attempt.number = number;
  attempt.model = plan.model(Stage::Performance).text();
  attempt.succeeded = !outcome.modules.empty();
  attempt.outcome =
      attempt.succeeded ? fmt::format("{} branches", outcome.modules.size()) : outcome.problem;
  return journal.attempt(attempt);
}

}  // namespace

std::vector<std::string> read_branches(const std::string& answer, const std::string& parent,
                                       std::string* problem) {
  const FindParent find =
      [&](const std::string& id) -> std::optional<std::pair<std::string, std::string>> {
    if (!id.empty() && !id.starts_with(kParentName)) return std::nullopt;
    return std::pair(std::string(kParentName), parent);
  };
  std::vector<std::string> modules, problems;
  for (const Block& block : fenced_blocks(answer)) {
    if (!may_be_source(block)) continue;
    if (!block.closed) {
      problems.emplace_back("the last block is cut off");
      continue;
    }
    const Result<Submission> read = read_source(block.text, find);
    if (!read)
      problems.push_back(read.error().message);
    else if (!contains(modules, read->module) && read->module != parent)
      modules.push_back(read->module);
  }
  if (modules.empty() && problems.empty())
    problems.emplace_back("it holds no kernel module that differs from the parent");
  *problem = join(problems, "; ");
  return modules;
}

Result<BranchesOutcome> write_branches(const ModelPlan& plan, const StageInput& input,
                                       const BranchesRequest& request, const Answer& answer,
                                       Journal& journal) {
  const llm::ModelId& model = plan.model(Stage::Performance);
  const std::string folder = fmt::format("stage_{}/iter_{:02}_try_{:02}", kStageName,
                                         request.iteration, request.retry + 1);
  Conversation conversation(system_blocks(input), {});
  conversation.say(opening(request));
  BranchesOutcome outcome;
  outcome.problem = "no attempt is allowed (--retries performance=0)";
  for (int number = 1; number <= plan.budget(Stage::Performance); ++number) {
    const llm::Request sent = conversation.request(
        fmt::format("{} iteration {} attempt {}", kStageName, request.iteration, number),
        model.context_tokens);
    KW_TRY(journal.write(fmt::format("{}/prompt_{}.md", folder, number),
                         conversation.messages().back().text + "\n"));
    const llm::Outcome said = answer(model, sent);
    KW_TRY(journal.exchange(sent.label, sent, said));
    if (!said) {
      outcome.provider = said.failure();
      outcome.problem = said.failure().error().message;
      KW_TRY(note(journal, plan, number, outcome));
      return outcome;
    }
    conversation.add_reply(*said);
    KW_TRY(journal.write(fmt::format("{}/response_{}.md", folder, number), said->text + "\n"));
    outcome.modules = read_branches(said->text, request.parent, &outcome.problem);
    KW_TRY(note(journal, plan, number, outcome));
    if (!outcome.modules.empty()) break;
    conversation.say(prompt("no_module", {{"problem", outcome.problem}}));
  }
  const auto most = static_cast<size_t>(std::max(1, request.branches));
  if (outcome.modules.size() > most) outcome.modules.resize(most);
  return outcome;
}

}  // namespace kw::stages
