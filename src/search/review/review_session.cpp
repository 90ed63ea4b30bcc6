#include "review/review_session.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>

#include "core/hash.h"
#include "os/interrupt.h"
#include "os/parallel.h"

namespace kw::review {
namespace {

std::string vote_key(const std::string& prompt, const std::string& model,
                     const std::string& entry) {
  return prompt + " " + model + " " + entry;
}

/// Failures that concern one question, not all of them.
bool of_the_question(const llm::Failure& failure) {
  return failure.kind == llm::FailureKind::TooLarge || failure.kind == llm::FailureKind::Refused ||
         failure.kind == llm::FailureKind::InvalidReply;
}

}  // namespace

std::string prompt_id(const std::string& instructions) {
  return hash_hex(instructions).substr(0, 12);
}

ReviewSession::ReviewSession(ReviewPorts ports, AskOptions options, int in_flight)
    : ports_(std::move(ports)), options_(options), in_flight_(std::max(1, in_flight)) {}

void ReviewSession::restore(const Json& event) {
  if (event["event"].as_string() != "vote") return;
  votes_[vote_key(event["prompt"].as_string(), event["model"].as_string(),
                  event["entry"].as_string())] = vote_from_json(event["vote"]);
}

bool ReviewSession::must_stop() const {
  const std::lock_guard lock(mutex_);
  return !stopped_.empty() || os::interrupted();
}

Status ReviewSession::take(const Job& job, const Specialist& specialist, AskResult asked) {
  const std::lock_guard lock(mutex_);
  if (asked.failure && !of_the_question(*asked.failure) && asked.vote.call == ReviewCall::None) {
    if (stopped_.empty()) {
      stopped_ = asked.failure->error().message;
      failure_ = asked.failure;
    }
    return Done{};
  }
  Json event = Json::object();
  event.set("event", "vote").set("prompt", prompt_id(specialist.instructions));
  event.set("model", specialist.model.text()).set("entry", job.entry->id);
  KW_TRY(ports_.write(event.set("vote", to_json(asked.vote))));
  votes_[job.key] = std::move(asked.vote);
  return Done{};
}

Status ReviewSession::run(const Specialist& specialist, const std::vector<Job>& jobs) {
  std::atomic<size_t> next = 0, done = 0;
  std::optional<Error> error;
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size() && !must_stop(); i = next++) {
      AskResult asked =
          ask(specialist, jobs[i].entry->question(), options_, ports_.answer, ports_.price);
      const Status taken = take(jobs[i], specialist, std::move(asked));
      const std::lock_guard lock(mutex_);
      if (!taken) {
        error = taken.error();
        stopped_ = taken.error().message;
      }
      if (ports_.watch) ports_.watch(++done, jobs.size());
    }
  };
  const auto at_once = std::min<int64_t>(in_flight_, static_cast<int64_t>(jobs.size()));
  os::parallel_for(static_cast<int>(at_once), at_once, [&](int, int64_t) { work(); });
  if (error) return *error;
  if (os::interrupted() && stopped_.empty()) stopped_ = "interrupted";
  return Done{};
}

Result<std::optional<Score>> ReviewSession::score(const Specialist& specialist,
                                                  const std::vector<const CorpusEntry*>& entries) {
  const std::string prompt = prompt_id(specialist.instructions);
  std::vector<Job> all, open;
  for (const CorpusEntry* entry : entries) {
    all.push_back({vote_key(prompt, specialist.model.text(), entry->id), entry});
    if (!votes_.contains(all.back().key)) open.push_back(all.back());
  }
  KW_TRY(run(specialist, open));
  if (!stopped_.empty()) return std::optional<Score>();
  Score score;
  for (const Job& job : all) {
    const Vote& vote = votes_.at(job.key);
    const bool right = label(*job.entry, specialist.field).value_or(true);
    score.confusion.add(right, job.entry->defensive(), vote.call);
    score.usd += vote.usd.value_or(0);
    score.unpriced += vote.usd ? 0 : 1;
    score.seconds += vote.seconds;
    if (vote.call == ReviewCall::None && score.first_silence.empty())
      score.first_silence = vote.abstained;
    if (vote.call != (right ? ReviewCall::Right : ReviewCall::Wrong))
      score.mistakes.push_back({job.entry, vote});
  }
  return std::optional(std::move(score));
}

}  // namespace kw::review
