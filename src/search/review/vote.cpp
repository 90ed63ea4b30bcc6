// A reviewer's answer is untrusted text, and a wrong reading of it could reject a right kernel. So
// the answer must be exactly one JSON object with exactly the requested members, and a "wrong"
// needs a reason with a valid line. Any other answer is an abstention. A tolerant parser would lose
// fewer votes, but would guess at unclear ones. A rejection needs every reviewer to vote "wrong"
// with high confidence. A lost right kernel costs more than one more run of the judge. The cost:
// one abstention prevents a rejection.
#include "review/vote.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "core/contains.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "stages/answer_source.h"

namespace kw::review {
namespace {

constexpr const char* kFieldNames[] = {"compile", "memory", "numerics"};
constexpr const char* kCallNames[] = {"unsure", "right", "wrong"};
constexpr size_t kMostReasons = 20, kMostWhyBytes = 1000;

std::optional<ReviewCall> call_named(const std::string& name) {
  for (size_t i = 0; i < std::size(kCallNames); ++i) {
    if (name == kCallNames[i]) return static_cast<ReviewCall>(i);
  }
  return std::nullopt;
}

Status only_members(const Json& object, const std::vector<std::string>& names) {
  for (const auto& [key, value] : object.members()) {
    if (!contains(names, key)) return input_error("'{}' is not one of {}", key, join(names, ", "));
  }
  if (object.members().size() != names.size())
    return input_error("it must have {}, each once", join(names, ", "));
  return Done{};
}

Result<Reason> parse_reason(const Json& json, int64_t lines) {
  if (!json.is_object()) return input_error("a reason is not an object");
  KW_TRY(only_members(json, {"line", "why"}));
  if (!json["line"].is_int() || json["line"].as_int() < 1 || json["line"].as_int() > lines)
    return input_error("the line of a reason must be 1 to {}", lines);
  if (!json["why"].is_string() || trim(json["why"].as_string()).empty())
    return input_error("a reason has no 'why'");
  return Reason{json["line"].as_int(), json["why"].as_string().substr(0, kMostWhyBytes)};
}

Result<Json> answer_object(std::string_view answer) {
  int objects = 0;
  for (const stages::Block& block : stages::fenced_blocks(answer)) {
    if (!trim(block.text).starts_with("{")) continue;
    if (!block.closed) return input_error("the answer ends inside its block");
    ++objects;
  }
  if (objects > 1) return input_error("the answer holds several objects");
  const std::optional<std::string> text = stages::json_text(answer);
  if (!text) return input_error("the answer holds no JSON object");
  const Json json = KW_TRY(Json::parse(*text));
  if (!json.is_object()) return input_error("the answer is not a JSON object");
  return json;
}

double believed(const Vote& vote) {
  return vote.call == ReviewCall::Right ? 0.5 + vote.confidence / 2 : 0.5 - vote.confidence / 2;
}

}  // namespace

const char* field_name(Field field) { return kFieldNames[static_cast<size_t>(field)]; }

std::optional<Field> field_named(std::string_view name) {
  for (const Field field : kFields) {
    if (name == field_name(field)) return field;
  }
  return std::nullopt;
}

Result<Vote> parse_vote(Field field, std::string_view answer, int64_t lines) {
  const Json json = KW_TRY(answer_object(answer));
  KW_TRY(only_members(json, {"verdict", "confidence", "reasons"}));
  Vote vote;
  vote.field = field;
  const std::optional<ReviewCall> call = call_named(json["verdict"].as_string());
  if (!call) return input_error("the verdict is not one of right, wrong, unsure");
  const double confidence = json["confidence"].as_double(-1);
  if (!json["confidence"].is_number() || !(confidence >= 0 && confidence <= 1))
    return input_error("the confidence is not a number from 0 to 1");
  if (!json["reasons"].is_array()) return input_error("the reasons are not a list");
  if (json["reasons"].items().size() > kMostReasons)
    return input_error("more than {} reasons", kMostReasons);
  for (const Json& one : json["reasons"].items())
    vote.reasons.push_back(KW_TRY(parse_reason(one, lines)));
  if (*call == ReviewCall::Wrong && vote.reasons.empty())
    return input_error("it is called wrong without a reason");
  vote.call = *call;
  vote.confidence = *call == ReviewCall::None ? 0 : confidence;
  if (*call == ReviewCall::None) vote.abstained = "unsure";
  return vote;
}

void fields(auto& v, Reason& r) { v("line", r.line)("why", r.why); }

void fields(auto& v, Vote& one) {
  v("field", one.field, kFieldNames)("verdict", one.call, kCallNames)("confidence", one.confidence);
  v("reasons", one.reasons)("abstained", one.abstained, Zero::Omit)("calls", one.calls);
  v("seconds", one.seconds)("usd", one.usd);
}

Json to_json(const Vote& vote) { return record_json(vote); }

Vote vote_from_json(const Json& json) {
  auto vote = read_record<Vote>(json);
  vote.confidence = std::clamp(vote.confidence, 0.0, 1.0);
  return vote;
}

Opinion aggregate(std::vector<Vote> votes, const Policy& policy) {
  Opinion opinion;
  double sum = 0;
  int64_t voted = 0, convinced = 0;
  for (const Vote& vote : votes) {
    opinion.seconds = std::max(opinion.seconds, vote.seconds);
    if (vote.usd) opinion.usd += *vote.usd;
    if (!vote.usd && vote.calls > 0) ++opinion.unpriced;
    if (vote.call == ReviewCall::None) continue;
    ++voted;
    sum += believed(vote);
    if (vote.call == ReviewCall::Wrong && vote.confidence >= policy.threshold) ++convinced;
  }
  if (voted > 0) opinion.score = sum / static_cast<double>(voted);
  opinion.rejected =
      policy.reject && !votes.empty() && convinced == static_cast<int64_t>(votes.size());
  opinion.votes = std::move(votes);
  return opinion;
}

ReviewCall Opinion::call() const {
  const auto says = [this](ReviewCall call) {
    return std::ranges::count_if(votes, [call](const Vote& vote) { return vote.call == call; });
  };
  const auto right = says(ReviewCall::Right), wrong = says(ReviewCall::Wrong);
  if (right == wrong) return ReviewCall::None;
  return right > wrong ? ReviewCall::Right : ReviewCall::Wrong;
}

std::string Opinion::why() const {
  std::vector<std::string> all;
  for (const Vote& vote : votes) {
    if (vote.call != ReviewCall::Wrong || vote.reasons.empty()) continue;
    all.push_back(fmt::format("{}: line {}: {}", field_name(vote.field), vote.reasons[0].line,
                              vote.reasons[0].why));
  }
  return join(all, "; ");
}

void fields(auto& v, Opinion& o) {
  v("score", o.score)("rejected", o.rejected)("seconds", o.seconds)("usd", o.usd);
  v("unpriced", o.unpriced)("votes", o.votes);
}

Json to_json(const Opinion& opinion) { return record_json(opinion); }

}  // namespace kw::review
