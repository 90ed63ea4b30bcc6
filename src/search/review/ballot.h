// Many modules put before one specialist, a few at a time, each vote kept as soon as it is there:
// what was paid for is never asked again, also by a later session.
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
#include "review/panel.h"

namespace kw::review {

/// How one set of instructions did on some entries.
struct Score {
  Confusion confusion;
  double usd = 0, seconds = 0;
  int64_t unpriced = 0;
  struct Mistake {
    const Entry* entry = nullptr;
    Vote vote;
  };
  std::vector<Mistake> mistakes;  // votes that are not what the judge found
  std::string first_silence;      // why the first that abstained did
};

/// Called whenever something is worth keeping; once it returned, that survives.
using WriteEvent = std::function<Status(const Json& event)>;

struct BallotPorts {
  stages::Answer answer;  // called from several threads at once
  Price price;
  WriteEvent write;
  std::function<void(size_t done, size_t all)> watch = {};  // may be empty
};

class Ballot {
 public:
  Ballot(BallotPorts ports, AskOptions options, int in_flight);

  /// A vote of an earlier session; events of other kinds are passed over.
  void restore(const Json& event);
  /// Votes on all entries. Nothing when the asking had to stop; stopped() says why then. Errors are
  /// the machine's.
  Result<std::optional<Score>> score(const Specialist& specialist,
                                     const std::vector<const Entry*>& entries);
  const std::string& stopped() const { return stopped_; }
  /// The failure behind it, if it was a model's.
  const std::optional<llm::Failure>& failure() const { return failure_; }
  /// Votes there are, from all sessions.
  size_t votes() const { return votes_.size(); }

 private:
  struct Job {
    std::string key;
    const Entry* entry = nullptr;
  };
  Status run(const Specialist& specialist, const std::vector<Job>& jobs);
  Status take(const Job& job, const Specialist& specialist, Asked asked);
  bool must_stop() const;

  const BallotPorts ports_;
  const AskOptions options_;
  const int in_flight_;
  mutable std::mutex mutex_;
  std::map<std::string, Vote> votes_;
  std::string stopped_;
  std::optional<llm::Failure> failure_;
};

/// The name instructions have in events: a hash of them.
std::string prompt_id(const std::string& instructions);

}  // namespace kw::review
