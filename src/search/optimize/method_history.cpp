#include "optimize/method_history.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/json_writer.h"
#include "profile/trigger.h"

namespace kw::optimize {
namespace {

using profile::SassState;

/// Counters of two runs of the same kernel differ a little.
constexpr double kLeastShift = 0.05;

/// The comparisons and flags of a condition, without their operators.
void clauses(const catalog::Expression& part, std::vector<const catalog::Expression*>& found) {
  for (const catalog::Expression& inner : part.parts) clauses(inner, found);
  if (part.parts.empty()) found.push_back(&part);
}

/// If the whole condition is unknown: the largest decrease among the parts that both sides know. ""
/// when a part increased or none decreased.
std::string weaker_clause(const catalog::Expression& condition, const profile::MetricSet& with,
                          const profile::MetricSet& without) {
  std::vector<const catalog::Expression*> all;
  clauses(condition, all);
  std::string found;
  double most = 0;
  for (const catalog::Expression* clause : all) {
    if (clause->kind == catalog::Expression::Kind::Flag) continue;
    const auto here = profile::strength_of(*clause, with).value;
    const auto there = profile::strength_of(*clause, without).value;
    if (!here || !there) continue;
    if (*here >= *there + kLeastShift) return "";
    if (*there - *here < std::max(most, kLeastShift)) continue;
    most = *there - *here;
    found = fmt::format("'{}' is worth {:.2f} with it and {:.2f} without it",
                        catalog::to_text(*clause), *here, *there);
  }
  return found;
}

}  // namespace

MethodHistory seen_by_counters(const catalog::Method& method, const profile::MetricSet& with,
                               const profile::MetricSet& without) {
  MethodHistory seen;
  seen.method = method.id;
  seen.by = "counters";
  seen.compared_with = "ablated";
  seen.why = "it is not known how it would show";
  if (!method.trigger) return seen;
  const auto here = profile::strength_of(*method.trigger, with).value;
  const auto there = profile::strength_of(*method.trigger, without).value;
  if (here && there) {
    seen.why = fmt::format("the evidence for it has strength {:.2f} with it and {:.2f} without it",
                           *here, *there);
    if (*here <= *there - kLeastShift) seen.state = SassState::Verified;
    return seen;
  }
  seen.why = weaker_clause(*method.trigger, with, without);
  if (!seen.why.empty())
    seen.state = SassState::Verified;
  else
    seen.why = "what it should change was not measured";
  return seen;
}

Json to_json(const MethodHistory& seen) {
  std::vector<std::string> checked, found, missing;
  for (const profile::SassCheckResult& row : seen.rows) {
    checked.push_back(row.check.opcodes);
    if (row.state == SassState::Verified) found.push_back(row.check.opcodes);
    if (row.state == SassState::Absent) missing.push_back(row.check.opcodes);
  }
  std::optional<bool> verified;
  if (seen.state != SassState::Unknown) verified = seen.state == SassState::Verified;
  JsonWriter v;
  v("method_id", seen.method)("status", profile::sass_state_name(seen.state));
  v("verified", verified)("by", seen.by)("compared_with", seen.compared_with);
  v("patterns_checked", checked)("patterns_found", found)("patterns_missing", missing);
  v("rows", json_list(seen.rows, [](auto& row, const profile::SassCheckResult& one) {
      row("check", catalog::sass_check_name(one.check.kind))("opcodes", one.check.opcodes);
      row("status", profile::sass_state_name(one.state))("here", one.here)("without", one.without);
      row("why", one.why);
    }));
  return v("note", seen.why).take();
}

MethodHistory method_history_of(const Json& json) {
  MethodHistory seen;
  seen.method = json["method_id"].as_string();
  for (const SassState state : {SassState::Verified, SassState::Absent}) {
    if (json["status"].as_string() == profile::sass_state_name(state)) seen.state = state;
  }
  seen.why = json["note"].as_string();
  seen.by = json["by"].as_string();
  seen.compared_with = json["compared_with"].as_string();
  return seen;
}

}  // namespace kw::optimize
