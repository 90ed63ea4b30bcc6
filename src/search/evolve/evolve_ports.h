// The ports of an evolution besides the judge (ports/judge.h) and the journal (ports/journal.h):
// the proposer, and the verifiers that look before hardware is used. With fake ports a whole
// evolution runs in milliseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "ports/judge.h"
#include "record/candidate.h"

namespace kw::evolve {

/// How a proposal is made. The first five need no model.
enum class Operator : uint8_t {
  Guess,      // a design with its best guess
  Tune,       // other values of tunables
  Schedule,   // other schedules, or the same ones with more switches
  Cross,      // from two parents
  Simplify,   // without methods that give no gain
  Translate,  // from the reference alone
  Rewrite,    // a new module
  Diff,       // a few places of the module
  Repair,     // a failed candidate, with the findings
};
/// "guess", "tune", …
const char* operator_name(Operator op);
std::optional<Operator> operator_named(const std::string& name);

/// A request to a proposer.
struct ProposalRequest {
  int64_t number = 0;  // from 0; identifies the request and seeds its random numbers
  int generation = 0, island = 0;
  Operator op = Operator::Guess;
  std::string arm;                   // of the ensemble; "": no model is asked
  std::vector<std::string> parents;  // ids, the one to change first
  std::vector<std::string> context;  // ids of other candidates to show
  bool only_this = false;            // without a model: do not try other operators
};
Json to_json(const ProposalRequest& request);
ProposalRequest request_from_json(const Json& json);

/// Why an arm gave no answer.
enum class ModelFailure : uint8_t { None, Passing, Lasting, Budget };

/// The answer to a request.
struct Proposal {
  std::optional<record::Candidate> candidate;
  std::string problem;  // why there is none
  ModelFailure failure = ModelFailure::None;
  std::optional<double> usd;  // not set: unknown
  bool exhausted = false;     // without a model: no new candidate is left
};

class Population;

/// Answers one request at a time, while others are in flight; a halving::Proposer gives whatever is
/// next. Between begin() and finish() a request is in flight. Requests finish in the order in which
/// they began.
class Author {
 public:
  virtual ~Author();
  /// Must not block.
  virtual Status begin(const ProposalRequest& request, const Population& archive) = 0;
  /// Blocks. Errors are the machine's, never a model's or a candidate's.
  virtual Result<Proposal> finish(const ProposalRequest& request) = 0;
};

/// A verifier's opinion on a candidate before it runs on hardware.
struct Vote {
  ports::Outcome seen;        // as far as the verifier saw it
  double score = 1;           // 0 to 1: probability that it is right
  std::optional<double> usd;  // cost of asking
  bool reading = false;       // reviewers still read it; opinions() gives their result
};

/// The result of reviewing a candidate.
struct Review {
  std::string id;
  double score = 1;           // factor for the score of the vote
  std::string refused;        // why it is refused; "": it is not
  std::string detail;         // for the author that repairs it
  std::optional<double> usd;  // what it cost
};

/// A verifier may only rank and reject, never accept: what passes still goes to the judge.
class Verifier {
 public:
  virtual ~Verifier();
  virtual std::string name() const = 0;
  virtual Result<Vote> vote(const record::Candidate& candidate) = 0;
  /// Starts the review of a candidate again that an earlier session did not finish.
  virtual void read_again(const record::Candidate& candidate);
  /// Waits for all reviews in progress; results are in the order of the votes.
  virtual Result<std::vector<Review>> opinions();
};

/// Checks with a compiler and the virtual GPU.
class MechanicalVerifier : public Verifier {
 public:
  explicit MechanicalVerifier(ports::Judge& judge) : judge_(judge) {}
  std::string name() const override { return "mechanical"; }
  Result<Vote> vote(const record::Candidate& candidate) override;

 private:
  ports::Judge& judge_;
};

/// Checks nothing: every candidate may run on hardware.
class NoVerifier : public Verifier {
 public:
  std::string name() const override { return "off"; }
  Result<Vote> vote(const record::Candidate&) override { return Vote{}; }
};

}  // namespace kw::evolve
