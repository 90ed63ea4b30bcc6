// The votes of reviewers on a module and what they add up to: a score and, if allowed, a rejection.
// Votes cannot accept a module.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace kw::review {

/// The field of a specialist.
enum class Field : uint8_t { Compile, Memory, Numerics };
inline constexpr std::array kFields = {Field::Compile, Field::Memory, Field::Numerics};
/// "compile", "memory", "numerics".
const char* field_name(Field field);
std::optional<Field> field_named(std::string_view name);

enum class ReviewCall : uint8_t { None, Right, Wrong };

struct Reason {
  int64_t line = 0;
  std::string why;
};

/// The vote of one reviewer.
struct Vote {
  Field field = Field::Compile;
  ReviewCall call = ReviewCall::None;  // None: abstained
  double confidence = 0;               // 0 to 1
  std::vector<Reason> reasons;
  std::string abstained;      // why it abstained
  int calls = 0;              // of the model
  double seconds = 0;         // the sum over its calls
  std::optional<double> usd;  // not set: unknown
};
Json to_json(const Vote& vote);
/// Missing members, and members of another type, are empty.
Vote vote_from_json(const Json& json);

/// Parses an answer: one JSON object, fenced or alone, with exactly the requested members. The
/// Error says what is wrong with it. "unsure" is an abstention.
Result<Vote> parse_vote(Field field, std::string_view answer, int64_t lines);

/// When votes alone reject a module.
struct Policy {
  bool reject = false;
  double threshold = 0.9;  // that every confidence must reach
};

/// The votes together.
struct Opinion {
  std::vector<Vote> votes;
  double score = 0.5;  // 0 to 1: probability that it is right; 0.5 without votes
  bool rejected = false;
  double seconds = 0;  // of the slowest reviewer
  double usd = 0;      // as far as known
  int64_t unpriced = 0;

  /// The majority; None when it is even or all abstained.
  ReviewCall call() const;
  /// The first reason of each reviewer that calls it wrong, in one line; "" when none does.
  std::string why() const;
};

/// The score is the mean of the votes: 0.5 plus or minus half the confidence. A rejection needs
/// policy.reject, a vote "wrong" from every reviewer, and every confidence at or above the
/// threshold.
Opinion aggregate(std::vector<Vote> votes, const Policy& policy);
Json to_json(const Opinion& opinion);

}  // namespace kw::review
