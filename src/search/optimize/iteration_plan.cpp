// An iteration needs a plan that the user can check: what was chosen, and why each method of higher
// priority was not. profile makes the plan; this file adds what the run knows: methods in the best
// kernel, bans, earlier results and methods the author cannot write. reason_not_chosen() is the one
// place that decides which reason is true, so the plan, an author's file and the gate agree. The
// gate could trust given reasons instead; then an agent could skip methods freely. The plan depends
// only on state and evidence, so it is the same in every process.
#include "optimize/iteration_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "arch/arch.h"
#include "core/contains.h"
#include "core/json_writer.h"
#include "core/text.h"

namespace kw::optimize {
namespace {

using catalog::Method;
using profile::Judged;
using profile::MethodStatus;
using profile::Plan;

std::map<std::string, profile::Record> record_of(const State& state) {
  std::map<std::string, profile::Record> past;
  for (const Json& entry : state.selected.items()) ++past[entry["id"].as_string()].tried;
  for (const Json& entry : state.effective.items()) ++past[entry["id"].as_string()].effective;
  return past;
}

const Judged* judged_of(const Plan& plan, const std::string& id) {
  const auto found =
      std::ranges::find_if(plan.methods, [&](const Judged& one) { return one.method->id == id; });
  return found == plan.methods.end() ? nullptr : &*found;
}

/// How a method conflicts with others: "conflict", "superseded" or "".
std::string relation(const Method& method, const std::vector<std::string>& others) {
  for (const std::string& id : others) {
    const Method* other = catalog::find(id);
    if (other == nullptr || other == &method) continue;
    if (contains(method.conflicts, id)) return "conflict";
    if (contains(other->supersedes, method.id) || contains(method.supersedes, id))
      return "superseded";
  }
  return "";
}

/// Whether the status depends on the method alone and not on other choices.
bool stands_alone(MethodStatus status) {
  switch (status) {
    case MethodStatus::AlreadyApplied:
    case MethodStatus::ArchIncompatible:
    case MethodStatus::NotExpressible:
    case MethodStatus::EffectForbidden:
    case MethodStatus::Banned:
    case MethodStatus::SkipCondition:
    case MethodStatus::InsufficientEvidence:
    case MethodStatus::NoTrigger:
    case MethodStatus::NoGain:
      return true;
    case MethodStatus::Chosen:
    case MethodStatus::NeedsOther:
    case MethodStatus::Conflict:
    case MethodStatus::Superseded:
    case MethodStatus::LowerScore:
      return false;
  }
  return false;
}

Json skipped_document(const Plan& plan, const State& state, const Method& method,
                      const std::vector<std::string>& claimed,
                      const std::map<std::string, std::string>& excluded) {
  Json skipped = Json::array();
  for (const Method& higher : catalog::methods()) {
    if (higher.axis != method.axis || higher.priority >= method.priority ||
        contains(claimed, higher.id))
      continue;
    std::string reason = "cannot_apply", why;
    const Judged* judged = judged_of(plan, higher.id);
    if (const auto out = excluded.find(higher.id); out != excluded.end()) {
      why = out->second;
    } else if (judged != nullptr) {
      const std::string known = reason_not_chosen(plan, state, *judged, claimed);
      reason = known.empty() ? "cannot_apply" : known;
      why = known.empty() ? "the author offered no kernel that has it" : judged->why;
    }
    JsonWriter v;
    v("id", higher.id)("priority", higher.priority)("reason", reason)("why", why);
    skipped.push(v.take());
  }
  return skipped;
}

}  // namespace

Result<std::string> context_of(const State& state, const profile::Roofline& roofline) {
  const arch::Target target = KW_TRY(arch::find_target(state.target));
  return profile::fingerprint(state.task_hash, target, roofline.bottleneck);
}

Result<Plan> plan_iteration(const State& state, const Evidence& evidence,
                            const std::map<std::string, std::string>& excluded) {
  const arch::Target target = KW_TRY(arch::find_target(state.target));
  profile::PlanInput input{evidence.metrics, evidence.roofline, target,
                           KW_TRY(context_of(state, evidence.roofline)), state.best.methods};
  for (const Ban& ban : state.bans) input.banned.insert({ban.method, ban.context});
  input.past = record_of(state);
  // Excluded methods are banned, not removed, because results point at their methods.
  for (const auto& [id, why] : excluded) input.banned.insert({id, input.context});
  Plan plan = profile::plan_methods(catalog::methods(), input);
  for (Judged& judged : plan.methods) {
    const auto out = excluded.find(judged.method->id);
    if (out != excluded.end() && judged.status == MethodStatus::Banned) judged.why = out->second;
  }
  return plan;
}

std::string reason_not_chosen(const Plan& plan, const State& state, const Judged& higher,
                              const std::vector<std::string>& claimed) {
  if (stands_alone(higher.status)) return profile::method_status_name(higher.status);
  std::vector<std::string> there = state.best.methods;
  there.insert(there.end(), claimed.begin(), claimed.end());
  if (const std::string why = relation(*higher.method, there); !why.empty()) return why;
  const bool needs_more = std::ranges::any_of(
      higher.method->needs, [&](const std::string& id) { return !contains(there, id); });
  if (needs_more) return "needs_other";
  double least = std::numeric_limits<double>::infinity();
  for (const std::string& id : claimed) {
    const Judged* one = judged_of(plan, id);
    if (one != nullptr && one->method->axis == higher.method->axis)
      least = std::min(least, one->score);
  }
  return higher.score <= least ? "lower_score" : "";
}

Json methods_document(const Plan& plan, const State& state, int iteration,
                      const std::vector<std::string>& claimed,
                      const std::map<std::string, std::string>& excluded) {
  Json methods = Json::array();
  for (const std::string& id : claimed) {
    const Judged* judged = judged_of(plan, id);
    if (judged == nullptr) continue;
    const Method& method = *judged->method;
    JsonWriter v;
    v("id", method.id)("name", method.title)("axis", method.axis)("priority", method.priority);
    v("description", judged->why)("trigger_strength", judged->strength);
    v("evidence", judged->evidence);
    v("skipped_higher", skipped_document(plan, state, method, claimed, excluded));
    methods.push(v.take());
  }
  JsonWriter v;
  v("iter", iteration)("inherited_methods", state.best.methods)("methods", methods);
  return v.take();
}

Json plan_document(const Plan& plan, const State& state, int iteration) {
  std::vector<std::string> chosen;
  for (const Judged* one : plan.chosen) chosen.push_back(one->method->id);
  JsonWriter v(methods_document(plan, state, iteration, chosen, {}));
  v("standings", json_list(plan.methods, [](auto& row, const Judged& one) {
      row("id", one.method->id)("axis", one.method->axis)("priority", one.method->priority);
      row("reason", profile::method_status_name(one.status))("why", one.why)("score", one.score);
      row("missing", one.missing);
    }));
  return v.take();
}

}  // namespace kw::optimize
