// Which methods to try next: every method of the catalogue judged by the evidence, ranked, chosen
// within the budget, and the reason for each in words. Decides nothing about how a method is
// written.
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

/// Where a method was tried. A method that failed is not tried again there; when the bottleneck
/// moves, it may be.
std::string fingerprint(const std::string& task, const arch::Target& target, Bottleneck bottleneck);

/// What became of a method before, anywhere.
struct Record {
  int tried = 0, effective = 0;
};

struct PlanInput {
  const MetricSet& metrics;
  const Roofline& roofline;
  const arch::Target& target;
  std::string context;                                        // a fingerprint()
  std::vector<std::string> applied;                           // methods the kernel has already
  std::set<std::pair<std::string, std::string>> banned = {};  // method, fingerprint
  std::map<std::string, Record> past = {};
  catalog::Expressible expressible = catalog::Expressible::Module;  // the most the writer can do
  catalog::Effect effect = catalog::Effect::Precision;              // the most the task allows
};

/// Why a method is or is not tried, in the order in which it is asked.
enum class Standing : uint8_t {
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
  NoGain,      // it costs speed, or its axis has nothing to win
  LowerScore,  // the budget of its axis went to better ones
};
const char* standing_name(Standing standing);

struct Judged {
  const catalog::Method* method = nullptr;
  Standing standing = Standing::NoTrigger;
  std::optional<double> strength;
  double score = 0;
  std::string why;                    // one sentence
  std::vector<std::string> evidence;  // clauses of the trigger, with their values
  std::vector<std::string> missing;   // metrics nobody measured
};

struct Plan {
  std::vector<Judged> methods;        // all of them, in the catalogue's order
  std::vector<const Judged*> chosen;  // in the order to apply them; point into `methods`
  /// Methods of the same axis that stand before a chosen one in priority and were not chosen.
  std::vector<const Judged*> skipped_higher(const Judged& chosen) const;

  Plan() = default;
  Plan(Plan&&) = default;
  Plan& operator=(Plan&&) = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
};

/// Deterministic: the same input gives the same plan. score = ln of the typical gain, at most what
/// the axis has to win, times trigger strength, times the share of successes so far.
Plan plan_methods(std::span<const catalog::Method> methods, const PlanInput& input);

/// iter-independent part of methods.json: id, name, axis, priority, trigger_strength, evidence,
/// skipped_higher.
Json to_json(const Plan& plan);

}  // namespace kw::profile
