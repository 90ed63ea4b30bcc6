// Decides which methods to try next: judges every method of the catalogue by the evidence, ranks
// it, chooses within the budget and gives a reason. Does not decide how a method is written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arch/arch.h"
#include "catalog/catalog.h"
#include "core/json.h"
#include "profile/metric_set.h"
#include "profile/roofline.h"

namespace kw::profile {

/// The situation in which a method was tried. A method that failed there is not tried again there.
/// It may be tried again when the bottleneck changes.
std::string fingerprint(const std::string& task, const arch::Target& target, Bottleneck bottleneck);

/// The results of earlier trials of a method in all situations.
struct Record {
  int tried = 0, effective = 0;
};

struct PlanInput {
  const MetricSet& metrics;
  const Roofline& roofline;
  const arch::Target& target;
  std::string context;                                        // a fingerprint()
  std::vector<std::string> applied;                           // methods the kernel already has
  std::set<std::pair<std::string, std::string>> banned = {};  // method, fingerprint
  std::map<std::string, Record> past = {};
  catalog::Expressible expressible = catalog::Expressible::Module;  // the most the author can write
  catalog::Effect effect = catalog::Effect::Precision;              // the most the task allows
};

/// Why a method is or is not tried, about in the order of the checks.
enum class MethodStatus : uint8_t {
  Chosen,
  AlreadyApplied,
  ArchIncompatible,
  NotExpressible,
  EffectForbidden,
  Banned,
  SkipCondition,
  NeedsOther,
  Conflict,
  Superseded,
  InsufficientEvidence,
  NoTrigger,
  NoGain,      // it costs speed, or its axis has nothing to gain
  LowerScore,  // better methods used the budget of its axis
};
const char* method_status_name(MethodStatus status);

struct Judged {
  const catalog::Method* method = nullptr;
  MethodStatus status = MethodStatus::NoTrigger;
  std::optional<double> strength;
  double score = 0;
  std::string why;                    // one sentence
  std::vector<std::string> evidence;  // clauses of the trigger with their values
  std::vector<std::string> missing;   // metrics that were not measured
};

struct Plan {
  std::vector<Judged> methods;        // all methods, in the catalogue's order
  std::vector<const Judged*> chosen;  // in the order to apply them; pointers into `methods`
  /// Methods of the same axis with a higher priority than the chosen one that were not chosen.
  std::vector<const Judged*> skipped_higher(const Judged& chosen) const;

  Plan() = default;
  Plan(Plan&&) = default;
  Plan& operator=(Plan&&) = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
};

/// Deterministic. score = ln of the typical gain (at most what the axis can gain) * trigger
/// strength * share of earlier successes.
Plan plan_methods(std::span<const catalog::Method> methods, const PlanInput& input);

/// The part of methods.json that does not depend on the iteration: id, name, axis, priority,
/// trigger_strength, evidence, skipped_higher.
Json to_json(const Plan& plan);

}  // namespace kw::profile
