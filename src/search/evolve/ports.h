// What an evolution sees beside the judge (ports/judge.h): the proposer, the verifiers that look
// before hardware does, and the journal. With pretended ones a whole evolution runs in
// milliseconds.
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

/// How a proposal comes to be. The first five need no model.
enum class Operator : uint8_t {
  Guess,      // a design with its best guess
  Tune,       // other values of tunables
  Schedule,   // other schedules, or the same ones with more to switch
  Cross,      // of two parents
  Simplify,   // without what does not pay
  Translate,  // from the reference alone
  Rewrite,    // the whole module anew
  Diff,       // a few places of it
  Repair,     // what failed, with what was found
};
/// "guess", "tune", …
const char* operator_name(Operator op);
std::optional<Operator> operator_named(const std::string& name);

/// What is asked of a proposer.
struct Order {
  int64_t number = 0;  // from 0; names the order, and seeds it
  int generation = 0, island = 0;
  Operator op = Operator::Guess;
  std::string arm;                   // of the ensemble; "": no model is asked
  std::vector<std::string> parents;  // ids, the one to change first
  std::vector<std::string> context;  // ids of others worth showing
  bool only_this = false;            // without a model: nothing in place of this operator
};
Json to_json(const Order& order);
Order order_from_json(const Json& json);

/// Why an arm gave no answer.
enum class Trouble : uint8_t { None, Passing, Lasting, Budget };

/// What came of an order.
struct Offer {
  std::optional<record::Candidate> candidate;
  std::string problem;  // why there is none
  Trouble trouble = Trouble::None;
  std::optional<double> usd;  // nothing: unknown
  bool exhausted = false;     // without a model: nothing is left to try
};

class Archive;

/// Between begin() and finish() an order is in flight; they are finished in the order they began.
class Proposer {
 public:
  virtual ~Proposer();
  /// Must not wait for anybody.
  virtual Status begin(const Order& order, const Archive& archive) = 0;
  /// Waits. Errors are the machine's, never a model's or a candidate's.
  virtual Result<Offer> finish(const Order& order) = 0;
};

/// What somebody thinks of a candidate before it is put on hardware.
struct Vote {
  ports::Outcome seen;        // as far as looking gave it
  double score = 1;           // 0 to 1: how likely it is right
  std::optional<double> usd;  // that asking cost
  bool reading = false;       // somebody goes on reading it; opinions() tells what came of that
};

/// What came of reading a candidate.
struct Reading {
  std::string id;
  double score = 1;           // by which the vote's is multiplied
  std::string refused;        // why it is out; "" while it is in
  std::string detail;         // for whoever repairs it
  std::optional<double> usd;  // that it cost
};

/// May only rank and reject, never accept: what passes is judged all the same.
class Verifier {
 public:
  virtual ~Verifier();
  virtual std::string name() const = 0;
  virtual Result<Vote> vote(const record::Candidate& candidate) = 0;
  /// Begins to read what a vote said is being read, in a session before this one.
  virtual void read_again(const record::Candidate& candidate);
  /// Waits for all that is being read, in the order it was voted on.
  virtual Result<std::vector<Reading>> opinions();
};

class Journal {
 public:
  virtual ~Journal();
  /// Keeps a candidate's text. Before any event that names it.
  virtual Status keep(const record::Candidate& candidate) = 0;
  /// Once this returned, the event survives.
  virtual Status write(const Json& event) = 0;
};

/// Exact as far as it looks: a compiler and the virtual GPU.
class MechanicalVerifier : public Verifier {
 public:
  explicit MechanicalVerifier(ports::Judge& judge) : judge_(judge) {}
  std::string name() const override { return "mechanical"; }
  Result<Vote> vote(const record::Candidate& candidate) override;

 private:
  ports::Judge& judge_;
};

/// Nobody looks: everything may go on hardware.
class NoVerifier : public Verifier {
 public:
  std::string name() const override { return "off"; }
  Result<Vote> vote(const record::Candidate&) override { return Vote{}; }
};

}  // namespace kw::evolve
