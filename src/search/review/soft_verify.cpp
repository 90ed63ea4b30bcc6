#include "engine/soft_verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/soft_models.h"
#include "engine/soft_tune.h"
#include "os/files.h"
#include "soft/panel.h"
#include "soft/readings.h"
#include "soft/suspicion.h"

namespace kw::engine {
namespace {

constexpr const char* kOpinionEvent = "opinion";
constexpr double kScoreSteps = 4;
constexpr size_t kMostReadings = 4;  // modules at a time, three specialists each

/// Coarse, so that among candidates that look about as good their times decide.
double coarse(double score) { return std::round(score * kScoreSteps) / kScoreSteps; }

Json suspicions_json(const std::vector<soft::Suspicion>& all) {
  Json list = Json::array();
  for (const soft::Suspicion& one : all)
    list.push(Json::object()
                  .set("field", soft::field_name(one.field))
                  .set("line", one.line)
                  .set("what", one.what));
  return list;
}

/// Where opinions and what was said go.
struct SoftRecords {
  stages::Journal* journal = nullptr;
  store::Run* run = nullptr;
};

class SoftVerifier : public evolve::Verifier {
 public:
  SoftVerifier(evolve::Verifier& first, std::string reference, std::string model,
               std::unique_ptr<soft::Panel> panel, stages::Answer answer, SoftRecords records)
      : first_(first),
        reference_(std::move(reference)),
        model_(std::move(model)),
        panel_(std::move(panel)),
        readings_(*panel_, std::move(answer), kMostReadings),
        records_(records) {}

  std::string name() const override { return fmt::format("{}, then {}", first_.name(), model_); }

  // The machine's look is needed at once; what readers think, before anything is judged.
  Result<evolve::Vote> vote(const record::Candidate& candidate) override {
    evolve::Vote vote = KW_TRY(first_.vote(candidate));
    if (!vote.seen.refused.empty()) return vote;
    vote.reading = true;
    read_again(candidate);
    return vote;
  }

  // Readers see a text and no values of its tunables, so a text is read once.
  void read_again(const record::Candidate& candidate) override {
    waiting_.emplace_back(candidate.id, candidate.text);
    if (opinions_.contains(candidate.text) || !begun_.insert(candidate.text).second) return;
    readings_.begin(candidate.id, {reference_, candidate.text});
  }

  /// An opinion of a session before this one.
  void recall(const std::string& text, soft::Opinion opinion) {
    if (spoken(opinion)) opinions_[text] = std::move(opinion);
  }

  Result<std::vector<evolve::Reading>> opinions() override {
    std::map<std::string, soft::Opinion> fresh;  // by id
    for (soft::Read& read : readings_.finish()) {
      for (const auto& [request, outcome] : read.talks)
        KW_TRY(records_.journal->exchange(request.label, request, outcome));
      Json event = to_json(read.opinion);
      event.set("id", read.id)
          .set("suspicions", suspicions_json(soft::suspicions(read.one.module)));
      KW_TRY(records_.run->event(kOpinionEvent, event));
      opinions_[read.one.module] = read.opinion;
      fresh.emplace(read.id, std::move(read.opinion));
    }
    std::vector<evolve::Reading> all;
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
    // Who said nothing may be asked again.
    std::erase_if(opinions_, [](const auto& known) { return !spoken(known.second); });
    return all;
  }

 private:
  static bool spoken(const soft::Opinion& opinion) {
    return std::ranges::any_of(opinion.votes,
                               [](const soft::Vote& one) { return one.call != soft::Call::None; });
  }

  static evolve::Reading reading_of(const std::string& id, const std::string& text,
                                    const soft::Opinion& opinion) {
    evolve::Reading reading;
    reading.id = id;
    reading.score = coarse(opinion.score) * soft::suspicion_score(soft::suspicions(text));
    if (!opinion.rejected) return reading;
    reading.refused = "all readers are sure that it is wrong";
    reading.detail = opinion.why();
    return reading;
  }

  evolve::Verifier& first_;
  const std::string reference_, model_;
  std::unique_ptr<soft::Panel> panel_;
  soft::Readings readings_;  // behind the panel: its threads use that
  const SoftRecords records_;
  std::vector<std::pair<std::string, std::string>> waiting_;  // id and text, as they were voted on
  std::set<std::string> begun_;                               // texts that are being read
  std::map<std::string, soft::Opinion> opinions_;             // by text
};

Result<std::map<soft::Field, std::string>> instructions_named(const std::string& folder) {
  if (!folder.empty())
    return soft::load_instructions(folder == "tuned" ? tuned_prompts_folder() : folder);
  std::map<soft::Field, std::string> all;
  for (const soft::Field field : soft::kFields) all[field] = soft::shipped_instructions(field);
  return all;
}

soft::Opinion opinion_of(const Json& event) {
  std::vector<soft::Vote> votes;
  for (const Json& vote : event["votes"].items()) votes.push_back(soft::vote_from_json(vote));
  soft::Opinion opinion = soft::aggregate(std::move(votes), {});
  opinion.rejected = event["rejected"].as_bool();
  return opinion;
}

}  // namespace

Result<std::unique_ptr<Readers>> Readers::open(const ReadersRequest& request,
                                               evolve::Verifier& first, store::Run& run,
                                               ModelSession* session, stages::Journal* journal) {
  auto readers = std::make_unique<Readers>();
  if (session == nullptr) {
    ModelOptions models = request.models;
    models.model_id = request.options.model;
    readers->session_ = KW_TRY(ModelSession::open(models, request.seed));
    readers->session_->restore(past_calls(run));
    readers->journal_ =
        std::make_unique<RunJournal>(*readers->session_, request.models.transcripts);
    KW_TRY(readers->journal_->attach(run));
    session = readers->session_.get();
    journal = readers->journal_.get();
  }
  const SoftVerifyOptions& options = request.options;
  const llm::ModelId model = KW_TRY(llm::parse_model_id(options.model, session->client().config()));
  KW_TRY(session->client().provider(model.provider));
  std::vector<soft::Specialist> specialists;
  for (const auto& [field, text] : KW_TRY(instructions_named(options.prompts)))
    specialists.push_back({field, text, model});
  soft::AskOptions ask;
  ask.reflect = options.reflect;
  soft::Policy policy;
  policy.reject = options.reject;
  auto panel =
      std::make_unique<soft::Panel>(std::move(specialists), ask, policy, price_of(*session));
  auto verifier =
      std::make_unique<SoftVerifier>(first, request.reference, model.text(), std::move(panel),
                                     answer_of(*session), SoftRecords{journal, &run});
  for (const record::Event& event : run.events()) {
    if (event.kind != kOpinionEvent) continue;
    const Result<record::Candidate> read = run.candidate(event.data["id"].as_string());
    if (read) verifier->recall(read->text, opinion_of(event.data));
  }
  readers->verifier_ = std::move(verifier);
  return readers;
}

Status check_reader_model(const SoftVerifyOptions& options, ModelSession& session) {
  if (options.model.empty()) return Done{};
  const llm::ModelId model = KW_TRY(llm::parse_model_id(options.model, session.client().config()));
  KW_TRY(session.client().provider(model.provider));
  KW_TRY(instructions_named(options.prompts));
  return Done{};
}

soft::Scoreboard scoreboard_of(const store::Run& run) {
  soft::Scoreboard board;
  for (const record::Event& event : run.events()) {
    if (event.kind == kOpinionEvent)
      board.opinion(event.data["id"].as_string(), opinion_of(event.data));
  }
  for (const record::Candidate& candidate : run.candidates()) {
    if (const auto fate = soft::fate_of(run.judgement(candidate.id)))
      board.judged(candidate.id, *fate);
  }
  return board;
}

}  // namespace kw::engine
