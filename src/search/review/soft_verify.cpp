// Hardware time is scarce, and models can often see a fault by reading. So candidates that compile
// and run on the virtual GPU are also reviewed by three specialists. Reviews run in the background
// while other proposals arrive; opinions() waits for them before candidates are chosen for
// hardware. A text is reviewed once, because reviewers do not see the values of tunables. Scores
// are rounded to quarters, so that small differences in confidence do not override times. Reviewing
// before compilation would find faults earlier, but the compiler is cheaper and exact. The cost:
// three model calls per module, or six with reflection.
#include "review/soft_verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "os/files.h"
#include "review/review_queue.h"
#include "review/reviewers.h"
#include "review/soft_models.h"
#include "review/soft_tune.h"
#include "review/static_warning.h"

namespace kw::review {
namespace {

constexpr const char* kOpinionEvent = "opinion";
constexpr double kScoreSteps = 4;
constexpr size_t kMostReadings = 4;  // modules at a time, three specialists each

/// Rounded, so that among similar scores the times decide.
double coarse(double score) { return std::round(score * kScoreSteps) / kScoreSteps; }

Json static_warnings_json(const std::vector<StaticWarning>& all) {
  Json list = Json::array();
  for (const StaticWarning& one : all)
    list.push(Json::object()
                  .set("field", field_name(Field::Numerics))
                  .set("line", one.line)
                  .set("what", one.what));
  return list;
}

/// Where opinions and exchanges are recorded.
struct SoftRecords {
  stages::Journal* journal = nullptr;
  store::Run* run = nullptr;
};

class SoftVerifier : public evolve::Verifier {
 public:
  SoftVerifier(evolve::Verifier& first, std::string reference, std::string model,
               std::unique_ptr<Reviewers> reviewers, stages::Answer answer, SoftRecords records)
      : first_(first),
        reference_(std::move(reference)),
        model_(std::move(model)),
        reviewers_(std::move(reviewers)),
        queue_(*reviewers_, std::move(answer), kMostReadings),
        records_(records) {}

  std::string name() const override { return fmt::format("{}, then {}", first_.name(), model_); }

  // The first verifier's result is needed at once; the reviewers' only before judging.
  Result<evolve::Vote> vote(const record::Candidate& candidate) override {
    evolve::Vote vote = KW_TRY(first_.vote(candidate));
    if (!vote.seen.refused.empty()) return vote;
    vote.reading = true;
    read_again(candidate);
    return vote;
  }

  // Reviewers see the text without values for its tunables, so each text is reviewed once.
  void read_again(const record::Candidate& candidate) override {
    waiting_.emplace_back(candidate.id, candidate.text);
    if (opinions_.contains(candidate.text) || !begun_.insert(candidate.text).second) return;
    queue_.begin(candidate.id, {reference_, candidate.text});
  }

  /// Adds an opinion of an earlier session.
  void recall(const std::string& text, Opinion opinion) {
    if (spoken(opinion)) opinions_[text] = std::move(opinion);
  }

  Result<std::vector<evolve::Review>> opinions() override {
    std::map<std::string, Opinion> fresh;  // by id
    for (ReviewedModule& read : queue_.finish()) {
      for (const auto& [request, outcome] : read.talks)
        KW_TRY(records_.journal->exchange(request.label, request, outcome));
      Json event = to_json(read.opinion);
      event.set("id", read.id);
      event.set("suspicions", static_warnings_json(static_warnings(read.one.module)));
      KW_TRY(records_.run->append(kOpinionEvent, event));
      opinions_[read.one.module] = read.opinion;
      fresh.emplace(read.id, std::move(read.opinion));
    }
    std::vector<evolve::Review> all;
    for (const auto& [id, text] : waiting_) {
      const auto paid = fresh.find(id);
      all.push_back(reading_of(id, text, opinions_[text]));
      all.back().usd = 0;
      if (paid == fresh.end()) continue;
      all.back().usd.reset();
      if (paid->second.unpriced == 0) all.back().usd = paid->second.usd;
    }
    waiting_.clear();
    begun_.clear();
    // If all reviewers abstained, the text may be reviewed again.
    std::erase_if(opinions_, [](const auto& known) { return !spoken(known.second); });
    return all;
  }

 private:
  static bool spoken(const Opinion& opinion) {
    return std::ranges::any_of(opinion.votes,
                               [](const Vote& one) { return one.call != ReviewCall::None; });
  }

  static evolve::Review reading_of(const std::string& id, const std::string& text,
                                   const Opinion& opinion) {
    evolve::Review reading;
    reading.id = id;
    reading.score = coarse(opinion.score) * static_warning_score(static_warnings(text));
    if (!opinion.rejected) return reading;
    reading.refused = "all reviewers are sure that it is wrong";
    reading.detail = opinion.why();
    return reading;
  }

  evolve::Verifier& first_;
  const std::string reference_, model_;
  std::unique_ptr<Reviewers> reviewers_;
  ReviewQueue queue_;  // after the reviewers, which its threads use
  const SoftRecords records_;
  std::vector<std::pair<std::string, std::string>> waiting_;  // id and text, in vote order
  std::set<std::string> begun_;                               // texts under review
  std::map<std::string, Opinion> opinions_;                   // by text
};

Result<std::map<Field, std::string>> instructions_named(const std::string& folder) {
  if (!folder.empty())
    return load_instructions(folder == "tuned" ? tuned_prompts_folder() : folder);
  std::map<Field, std::string> all;
  for (const Field field : kFields) all[field] = shipped_instructions(field);
  return all;
}

Opinion opinion_of(const Json& event) {
  std::vector<Vote> votes;
  for (const Json& vote : event["votes"].items()) votes.push_back(vote_from_json(vote));
  Opinion opinion = aggregate(std::move(votes), {});
  opinion.rejected = event["rejected"].as_bool();
  return opinion;
}

}  // namespace

Result<std::unique_ptr<ModelReviewers>> ModelReviewers::open(const ModelReviewersRequest& request,
                                                             evolve::Verifier& first,
                                                             store::Run& run,
                                                             stages::ModelSession* session,
                                                             stages::Journal* journal) {
  auto opened = std::make_unique<ModelReviewers>();
  if (session == nullptr) {
    stages::ModelOptions models = request.models;
    models.model_id = request.options.model;
    opened->session_ = KW_TRY(stages::ModelSession::open(models, request.seed));
    opened->session_->restore(stages::past_calls(run));
    opened->journal_ =
        std::make_unique<stages::RunJournal>(*opened->session_, request.models.transcripts);
    KW_TRY(opened->journal_->attach(run));
    session = opened->session_.get();
    journal = opened->journal_.get();
  }
  const SoftVerifyOptions& options = request.options;
  const llm::ModelId model = KW_TRY(llm::parse_model_id(options.model, session->client().config()));
  KW_TRY(session->client().provider(model.provider));
  std::vector<Specialist> specialists;
  for (const auto& [field, text] : KW_TRY(instructions_named(options.prompts)))
    specialists.push_back({field, text, model});
  AskOptions ask;
  ask.reflect = options.reflect;
  Policy policy;
  policy.reject = options.reject;
  auto reviewers =
      std::make_unique<Reviewers>(std::move(specialists), ask, policy, price_of(*session));
  auto verifier =
      std::make_unique<SoftVerifier>(first, request.reference, model.text(), std::move(reviewers),
                                     answer_of(*session), SoftRecords{journal, &run});
  for (const record::Event& event : run.events()) {
    if (event.kind != kOpinionEvent) continue;
    const Result<record::Candidate> read = run.candidate(event.data["id"].as_string());
    if (read) verifier->recall(read->text, opinion_of(event.data));
  }
  opened->verifier_ = std::move(verifier);
  return opened;
}

Status check_reviewer_model(const SoftVerifyOptions& options, stages::ModelSession& session) {
  if (options.model.empty()) return Done{};
  const llm::ModelId model = KW_TRY(llm::parse_model_id(options.model, session.client().config()));
  KW_TRY(session.client().provider(model.provider));
  KW_TRY(instructions_named(options.prompts));
  return Done{};
}

Scoreboard scoreboard_of(const store::Run& run) {
  Scoreboard board;
  for (const record::Event& event : run.events()) {
    if (event.kind == kOpinionEvent)
      board.opinion(event.data["id"].as_string(), opinion_of(event.data));
  }
  for (const record::Candidate& candidate : run.candidates()) {
    if (const auto outcome = final_verdict_of(run.judgement(candidate.id)))
      board.judged(candidate.id, *outcome);
  }
  return board;
}

}  // namespace kw::review
