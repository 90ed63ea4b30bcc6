// What readers of a module say about it, and what their votes amount to: a score and, where that is
// allowed, a rejection. There is no way to say "accepted" here.
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

/// What a reader is a specialist for.
enum class Field : uint8_t { Compile, Memory, Numerics };
inline constexpr std::array kFields = {Field::Compile, Field::Memory, Field::Numerics};
/// "compile", "memory", "numerics".
const char* field_name(Field field);
std::optional<Field> field_named(std::string_view name);

enum class Call : uint8_t { None, Right, Wrong };

struct Reason {
  int64_t line = 0;
  std::string why;
};

/// One reader's.
struct Vote {
  Field field = Field::Compile;
  Call call = Call::None;  // None: abstained
  double confidence = 0;   // 0 to 1
  std::vector<Reason> reasons;
  std::string abstained;      // why
  int calls = 0;              // of the model
  double seconds = 0;         // until the last answer was there
  std::optional<double> usd;  // nothing: not known
};
Json to_json(const Vote& vote);
/// Members that are missing or of another type are taken to be empty.
Vote vote_from_json(const Json& json);

/// An answer as it must be: one JSON object, fenced or alone, with exactly the members that were
/// asked for. The Error says what is wrong with it. "unsure" is a vote of nobody.
Result<Vote> parse_vote(Field field, std::string_view answer, int64_t lines);

/// When votes alone keep a module from being looked at.
struct Policy {
  bool reject = false;
  double threshold = 0.9;  // of every single confidence
};

/// What the votes amount to.
struct Opinion {
  std::vector<Vote> votes;
  double score = 0.5;  // 0 to 1: how likely it is right; 0.5 when nobody says anything
  bool rejected = false;
  double seconds = 0;  // of the slowest
  double usd = 0;      // as far as known
  int64_t unpriced = 0;

  /// What most of those who voted say; None when nobody does or they are even.
  Call call() const;
  /// The first reasons of those who call it wrong, in one line; "" when nobody does.
  std::string why() const;
};

/// The score is the mean of what each reader's confidence makes of 0.5. A rejection wants every
/// reader to have voted, all of them wrong, and all at or above the threshold.
Opinion aggregate(std::vector<Vote> votes, const Policy& policy);
Json to_json(const Opinion& opinion);

}  // namespace kw::review
