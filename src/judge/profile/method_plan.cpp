// The catalogue has many methods, and a kernel can take only a few at once. The planner judges each
// method alone first: target, effect on the numbers, earlier failures, trigger. It then sorts the
// rest by score and takes them greedily within the budget of each axis. The sort breaks ties by
// priority and id, so the same input gives the same plan. An exact search over sets was the
// alternative; scores are too rough to justify it. The cost: a method that needs two others can
// miss the budget. Each method keeps the reason for its status.
#include "profile/method_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/contains.h"
#include "core/hash.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "profile/trigger.h"

namespace kw::profile {
namespace {

using catalog::Method;

std::string feature_list(const std::vector<arch::Feature>& features) {
  std::vector<std::string> names;
  for (const arch::Feature feature : features) names.emplace_back(arch::feature_name(feature));
  return join(names, ", ");
}

std::optional<double> gap_of(const Gaps& gaps, const std::string& axis) {
  return axis == "compute" ? gaps.compute : axis == "memory" ? gaps.memory : gaps.latency;
}

class Planner {
 public:
  Planner(std::span<const Method> methods, const PlanInput& input)
      : methods_(methods), input_(input) {}

  Plan run() {
    for (const Method& method : methods_) {
      Judged judged;
      judged.method = &method;
      judge(judged);
      plan_.methods.push_back(std::move(judged));
    }
    choose();
    return std::move(plan_);
  }

 private:
  static void set_status(Judged& judged, MethodStatus status, std::string why) {
    judged.status = status;
    judged.why = std::move(why);
  }

  /// Judges one method alone. LowerScore here means that the method may be chosen.
  void judge(Judged& judged) {
    const Method& method = *judged.method;
    look_at_trigger(judged);
    if (contains(input_.applied, method.id))
      return set_status(judged, MethodStatus::AlreadyApplied, "the kernel has it already");
    if (const auto missing = arch::lacking(input_.target, method.features); !missing.empty())
      return set_status(judged, MethodStatus::ArchIncompatible,
                        fmt::format("{} lacks {}", input_.target.name, feature_list(missing)));
    if (method.expressible > input_.expressible)
      return set_status(judged, MethodStatus::NotExpressible,
                        method.expressible == catalog::Expressible::Foreign
                            ? "it needs host code, which a kernel module does not have"
                            : "it cannot be written into a kernel");
    if (method.effect > input_.effect)
      return set_status(judged, MethodStatus::EffectForbidden,
                        fmt::format("its effect on the numbers ({}) is more than the task allows",
                                    catalog::effect_name(method.effect)));
    if (input_.banned.count({method.id, input_.context}) > 0)
      return set_status(judged, MethodStatus::Banned,
                        "it was tried under these conditions and did not help");
    if (related(judged)) return;
    weigh(judged);
  }

  void look_at_trigger(Judged& judged) {
    if (!judged.method->trigger) return;
    Strength strength = strength_of(*judged.method->trigger, input_.metrics);
    judged.strength = strength.value;
    judged.evidence = std::move(strength.reasons);
    judged.missing = std::move(strength.missing);
  }

  /// Checks the skip condition and the conflicts with applied methods. True when one rules the
  /// method out.
  bool related(Judged& judged) {
    const Method& method = *judged.method;
    if (method.skip) {
      const Strength skip = strength_of(*method.skip, input_.metrics);
      if (skip.value && *skip.value > 0) {
        set_status(judged, MethodStatus::SkipCondition,
                   fmt::format("'{}' holds: {}", catalog::to_text(*method.skip),
                               join(skip.reasons, ", ")));
        return true;
      }
    }
    for (const std::string& id : input_.applied) {
      const auto other = std::ranges::find(methods_, id, &Method::id);
      if (contains(method.conflicts, id)) {
        set_status(judged, MethodStatus::Conflict,
                   fmt::format("the kernel has {}, which excludes it", id));
        return true;
      }
      if (other != methods_.end() && contains(other->supersedes, method.id)) {
        set_status(judged, MethodStatus::Superseded,
                   fmt::format("the kernel has {}, which includes it", id));
        return true;
      }
    }
    return false;
  }

  void weigh(Judged& judged) const {
    const Method& method = *judged.method;
    if (!judged.strength)
      return set_status(judged, MethodStatus::InsufficientEvidence,
                        fmt::format("not known: {}", join(judged.missing, ", ")));
    if (*judged.strength <= 0)
      return set_status(judged, MethodStatus::NoTrigger,
                        fmt::format("no evidence supports it: {}", join(judged.evidence, ", ")));
    judged.score = score(method, *judged.strength);
    if (judged.score <= 0)
      return set_status(judged, MethodStatus::NoGain,
                        method.gain_high <= 1
                            ? "it costs speed"
                            : fmt::format("the gap of {} leaves nothing to gain", method.axis));
    set_status(judged, MethodStatus::LowerScore, "");
  }

  double score(const Method& method, double strength) const {
    double gain = std::log(std::sqrt(method.gain_low * method.gain_high));
    // The gain is limited by the time that the method's axis loses here.
    if (const auto gap = gap_of(input_.roofline.gaps, method.axis))
      gain = std::min(gain, -std::log(1 - std::clamp(*gap, 0.0, 0.99)));
    const auto past = input_.past.find(method.id);
    const Record record = past == input_.past.end() ? Record{} : past->second;
    const double success =
        (record.effective + 1.0) / (std::max(record.tried, record.effective) + 2.0);
    return gain * strength * success;
  }

  void choose() {
    std::vector<Judged*> open;
    for (Judged& judged : plan_.methods) {
      if (judged.status == MethodStatus::LowerScore) open.push_back(&judged);
    }
    std::stable_sort(open.begin(), open.end(), [](const Judged* a, const Judged* b) {
      if (a->score != b->score) return a->score > b->score;
      return std::pair(a->method->priority, a->method->id) <
             std::pair(b->method->priority, b->method->id);
    });
    // A method may need one that is chosen after it. The loop repeats until no method was added.
    AxisBudget left = input_.roofline.budget;
    bool again = true;
    while (again) {
      again = false;
      for (Judged* judged : open) again = take(*judged, left) || again;
    }
    for (Judged* judged : open) explain_left_out(*judged);
  }

  bool take(Judged& judged, AxisBudget& left) {
    const Method& method = *judged.method;
    if (judged.status == MethodStatus::Chosen || left.of(method.axis) == 0) return false;
    if (!missing_needs(method).empty() || opponent(method) != nullptr) return false;
    set_status(judged, MethodStatus::Chosen, join(judged.evidence, ", "));
    plan_.chosen.push_back(&judged);
    --(method.axis == "compute"  ? left.compute
       : method.axis == "memory" ? left.memory
                                 : left.latency);
    return true;
  }

  std::vector<std::string> missing_needs(const Method& method) const {
    std::vector<std::string> missing;
    for (const std::string& id : method.needs) {
      if (!contains(input_.applied, id) && !is_chosen(id)) missing.push_back(id);
    }
    return missing;
  }

  bool is_chosen(const std::string& id) const {
    return std::ranges::any_of(plan_.chosen,
                               [&](const Judged* one) { return one->method->id == id; });
  }

  /// A chosen method that conflicts with this one or replaces it; null when there is none.
  const Method* opponent(const Method& method) const {
    for (const Judged* one : plan_.chosen) {
      const Method& other = *one->method;
      if (contains(method.conflicts, other.id) || contains(method.supersedes, other.id) ||
          contains(other.supersedes, method.id))
        return &other;
    }
    return nullptr;
  }

  void explain_left_out(Judged& judged) const {
    if (judged.status == MethodStatus::Chosen) return;
    const Method& method = *judged.method;
    if (const Method* other = opponent(method)) {
      const bool same = !contains(method.conflicts, other->id);
      set_status(
          judged, same ? MethodStatus::Superseded : MethodStatus::Conflict,
          fmt::format("{} was chosen, which {} it", other->id, same ? "includes" : "excludes"));
    } else if (const auto needs = missing_needs(method); !needs.empty()) {
      set_status(judged, MethodStatus::NeedsOther,
                 fmt::format("it needs {} first", join(needs, ", ")));
    } else {
      set_status(
          judged, MethodStatus::LowerScore,
          input_.roofline.budget.of(method.axis) == 0
              ? fmt::format("the {} axis has no budget", method.axis)
              : fmt::format("score {:.2f}; methods with a higher score used the budget of {}",
                            judged.score, method.axis));
    }
  }

  std::span<const Method> methods_;
  const PlanInput& input_;
  Plan plan_;
};

}  // namespace

std::string fingerprint(const std::string& task, const arch::Target& target,
                        Bottleneck bottleneck) {
  return hash_hex(task + "\n" + target.name + "\n" + bottleneck_name(bottleneck)).substr(0, 16);
}

const char* method_status_name(MethodStatus status) {
  constexpr const char* kNames[] = {
      "chosen",           "already_selected", "arch_incompatible",     "not_expressible",
      "effect_forbidden", "banned",           "skip_condition",        "needs_other",
      "conflict",         "superseded",       "insufficient_evidence", "no_trigger",
      "no_gain",          "lower_score"};
  return kNames[static_cast<size_t>(status)];
}

std::vector<const Judged*> Plan::skipped_higher(const Judged& picked) const {
  std::vector<const Judged*> found;
  for (const Judged& judged : methods) {
    if (judged.method->axis == picked.method->axis &&
        judged.method->priority < picked.method->priority && judged.status != MethodStatus::Chosen)
      found.push_back(&judged);
  }
  return found;
}

Plan plan_methods(std::span<const Method> methods, const PlanInput& input) {
  return Planner(methods, input).run();
}

Json to_json(const Plan& plan) {
  std::vector<const Judged*> unknown;
  for (const Judged& judged : plan.methods) {
    if (judged.status == MethodStatus::InsufficientEvidence) unknown.push_back(&judged);
  }
  JsonWriter v;
  v("methods", json_list(plan.chosen, [&plan](auto& row, const Judged* chosen) {
      const Method& method = *chosen->method;
      row("id", method.id)("name", method.title)("axis", method.axis);
      row("priority", method.priority)("trigger_strength", chosen->strength);
      row("score", chosen->score)("evidence", chosen->evidence);
      row("skipped_higher",
          json_list(plan.skipped_higher(*chosen), [](auto& skipped, const Judged* higher) {
            skipped("id", higher->method->id)("priority", higher->method->priority);
            skipped("reason", method_status_name(higher->status))("why", higher->why);
          }));
    }));
  v("unknown", json_list(unknown, [](auto& row, const Judged* one) {
      row("id", one->method->id)("missing", one->missing);
    }));
  return v.take();
}

}  // namespace kw::profile
