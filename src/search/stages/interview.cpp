// Reference, prompt and machine rarely settle everything: dims and priority can be open. A model
// answers these questions as a JSON object, from the reference and the prompt. If it lists
// questions, the user gets at most five, and the model answers again with the user's answers.
// Asking the user everything directly would need no model, but would ask questions that the
// reference answers. Tolerances are never part of it: a model must not loosen them. The cost: one
// or two exchanges before any kernel is written.
#include "stages/interview.h"

#include <fmt/core.h>

#include "core/text.h"
#include "stages/answer_source.h"
#include "stages/conversation.h"
#include "stages/prompts.h"
#include "stages/spec.h"

namespace kw::stages {
namespace {

constexpr size_t kMostQuestions = 5;
constexpr const char* kFolder = "stage1_interview";

std::vector<std::string> text_list(const Json& json) {
  std::vector<std::string> list;
  for (const Json& item : json.items()) {
    if (item.is_string() && !trim(item.as_string()).empty())
      list.emplace_back(trim(item.as_string()));
  }
  return list;
}

/// The user's answers to the model's questions; "": the user gave none.
std::string user_answers(const InterviewRequest& request,
                         const std::vector<std::string>& questions) {
  std::string out;
  for (size_t i = 0; request.ask && i < std::min(questions.size(), kMostQuestions); ++i) {
    const auto answer = request.ask(questions[i]);
    if (answer && !trim(*answer).empty())
      out += fmt::format("Question: {}\nAnswer: {}\n", questions[i], trim(*answer));
  }
  return out;
}

class InterviewLoop {
 public:
  InterviewLoop(const ModelPlan& plan, const InterviewRequest& request, const Answer& answer,
                Journal& journal)
      : plan_(plan),
        request_(request),
        answer_(answer),
        journal_(journal),
        conversation_({}, {}, {200'000, 6, 4096}) {}

  Result<InterviewOutcome> run() {
    const int attempts = plan_.budget(Stage::Interview);
    outcome_.problem = "no attempt is allowed (--retries interview=0)";
    conversation_.say(opening());
    for (int number = 1; number <= attempts; ++number) {
      const bool done = KW_TRY(attempt(number));
      if (done || outcome_.provider) break;
    }
    return outcome_;
  }

 private:
  std::string opening() const {
    std::string open;
    for (const std::string& line : request_.open) open += "- " + line + "\n";
    return prompt("interview", {{"reference", data("python", request_.reference)},
                                {"prompt", request_.prompt.empty() ? "(nothing)"
                                                                   : data("data", request_.prompt)},
                                {"target", request_.target},
                                {"known", data("data", request_.known)},
                                {"open", data("data", open)}});
  }

  Result<std::optional<Interview>> exchange(int number) {
    const llm::Request sent = conversation_.request(fmt::format("interview attempt {}", number));
    KW_TRY(journal_.write(std::string(kFolder) + "/prompt_to_llm.md",
                          conversation_.messages().back().text + "\n"));
    const llm::Outcome outcome = answer_(plan_.model(Stage::Interview), sent);
    KW_TRY(journal_.exchange(sent.label, sent, outcome));
    if (!outcome) {
      outcome_.provider = outcome.failure();
      outcome_.problem = outcome.failure().error().message;
      return std::optional<Interview>{};
    }
    conversation_.add_reply(*outcome);
    KW_TRY(journal_.write(std::string(kFolder) + "/llm_response.md", outcome->text + "\n"));
    Result<Interview> answers = read_interview(outcome->text);
    if (answers) return std::optional(std::move(answers).value());
    outcome_.problem = answers.error().message;
    return std::optional<Interview>{};
  }

  Result<bool> attempt(int number) {
    std::optional<Interview> answers = KW_TRY(exchange(number));
    if (answers && !answers->questions.empty()) {
      const std::string said = user_answers(request_, answers->questions);
      if (!said.empty()) {
        conversation_.say("The user answered:\n" + data("data", said) +
                          "\nAnswer with the JSON object again, without questions.");
        const auto again = KW_TRY(exchange(number));
        if (again) answers = again;
        if (again) answers->questions.clear();
      }
    }
    KW_TRY(note(number, answers.has_value()));
    if (!answers) {
      conversation_.say(prompt("no_json", {{"problem", outcome_.problem}}));
      return false;
    }
    outcome_.problem.clear();
    outcome_.answers = std::move(answers);
    return true;
  }

  Status note(int number, bool succeeded) {
    Attempt attempt;
    attempt.stage = stage_name(Stage::Interview);
    attempt.number = number;
    attempt.model = plan_.model(Stage::Interview).text();
    attempt.succeeded = succeeded;
    attempt.outcome = succeeded ? "answered" : outcome_.problem;
    outcome_.attempts.push_back(attempt);
    return journal_.attempt(attempt);
  }

  const ModelPlan& plan_;
  const InterviewRequest& request_;
  const Answer& answer_;
  Journal& journal_;
  Conversation conversation_;
  InterviewOutcome outcome_;
};

}  // namespace

Result<Interview> read_interview(const std::string& reply) {
  const auto text = json_text(reply);
  if (!text) return input_error("the answer holds no JSON object");
  const Result<Json> json = Json::parse(*text);
  if (!json) return input_error("the answer's JSON cannot be read: " + json.error().message);
  Interview answers;
  answers.inputs = text_list((*json)["inputs"]);
  if (const Json& word = (*json)["optimization_priority"]; word.is_string()) {
    answers.priority = priority_word(word.as_string());
    if (!answers.priority)
      return input_error("optimization_priority is not one of latency, throughput, balanced");
  }
  answers.notes = (*json)["notes"].as_string();
  answers.questions = text_list((*json)["questions"]);
  return answers;
}

Result<InterviewOutcome> interview(const ModelPlan& plan, const InterviewRequest& request,
                                   const Answer& answer, Journal& journal) {
  return InterviewLoop(plan, request, answer, journal).run();
}

}  // namespace kw::stages
