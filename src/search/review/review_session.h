// Asks one specialist about many modules, a few at a time. Each vote is stored as soon as it
// arrives, so no session pays for the same vote twice.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "review/corpus.h"
#include "review/metrics.h"
#include "review/reviewers.h"

namespace kw::review {

/// The results of one set of instructions on some entries.
struct Score {
  Confusion confusion;
  double usd = 0, seconds = 0;
  int64_t unpriced = 0;
  struct Mistake {
    const CorpusEntry* entry = nullptr;
    Vote vote;
  };
  std::vector<Mistake> mistakes;  // votes that differ from the judge's label
  std::string first_silence;      // why the first abstention happened
};

/// Stores an event; after it returns, the event survives a crash.
using WriteEvent = std::function<Status(const Json& event)>;

struct ReviewPorts {
  stages::Answer answer;  // called from several threads at once
  Price price;
  WriteEvent write;
  std::function<void(size_t done, size_t all)> watch = {};  // may be empty
};

class ReviewSession {
 public:
  ReviewSession(ReviewPorts ports, AskOptions options, int in_flight);

  /// Adds a vote of an earlier session; ignores other events.
  void restore(const Json& event);
  /// Asks for the missing votes and scores all entries. Not set when it had to stop; stopped() then
  /// has the reason. Errors are the machine's.
  Result<std::optional<Score>> score(const Specialist& specialist,
                                     const std::vector<const CorpusEntry*>& entries);
  const std::string& stopped() const { return stopped_; }
  /// The failure of a model that stopped it; not set for other reasons.
  const std::optional<llm::Failure>& failure() const { return failure_; }
  /// The number of votes, from all sessions.
  size_t votes() const { return votes_.size(); }

 private:
  struct Job {
    std::string key;
    const CorpusEntry* entry = nullptr;
  };
  Status run(const Specialist& specialist, const std::vector<Job>& jobs);
  Status take(const Job& job, const Specialist& specialist, AskResult asked);
  bool must_stop() const;

  const ReviewPorts ports_;
  const AskOptions options_;
  const int in_flight_;
  mutable std::mutex mutex_;
  std::map<std::string, Vote> votes_;
  std::string stopped_;
  std::optional<llm::Failure> failure_;
};

/// The id of instructions in events: a hash.
std::string prompt_id(const std::string& instructions);

}  // namespace kw::review
