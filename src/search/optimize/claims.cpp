// An agent writes methods.json; a wrong file would waste compiles and races, so it is checked
// before anything is compiled. The reader checks form and names and reports all problems at once,
// with a suggestion for a misspelt name. The gate then compares the claims with the plan: target,
// bans, conflicts, budget, and a true reason for each skipped method of higher priority. The fields
// are one table. Trusting the agent was the alternative; then it could ignore the evidence.
// Refusals of the gate can be overridden, which is recorded; errors cannot.
#include "optimize/claims.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/contains.h"
#include "core/json_writer.h"
#include "core/text.h"

namespace kw::optimize {
namespace {

using catalog::Method;
using profile::Judged;
using profile::MethodStatus;

constexpr size_t kLeastWhy = 10;  // characters of an explanation

constexpr FieldRow kFields[] = {
    {"", "iter", "integer", true, "number of the open iteration"},
    {"", "methods", "array", true, "what is tried, at most 6; may be empty"},
    {"", "inherited_methods", "array", false, "ids that the kernel has already"},
    {"methods", "id", "string", true, "of the catalogue"},
    {"methods", "name", "string", false, "title"},
    {"methods", "axis", "string", false, "compute, memory or latency; as in the catalogue"},
    {"methods", "priority", "integer", false, "as in the catalogue"},
    {"methods", "description", "string", false, "what is changed"},
    {"methods", "trigger_strength", "number", false, "from 0 to 1; computed, not believed"},
    {"methods", "evidence", "array", false, "clauses of the trigger with their values"},
    {"methods", "ncu_evidence", "array", false, "metrics: {metric, value, unit}"},
    {"methods", "expected_metric_shift", "string", false, "what should change"},
    {"methods", "skipped_higher", "array", false,
     "methods of the axis with a higher priority that are not tried"},
    {"skipped_higher", "id", "string", true, "of the catalogue"},
    {"skipped_higher", "priority", "integer", false, "as in the catalogue"},
    {"skipped_higher", "reason", "string", true, "one of the reasons; checked"},
    {"skipped_higher", "why", "string", false, "in words; required with cannot_apply"},
};

/// Other names of reasons that are accepted, and their names here.
constexpr std::pair<const char*, const char*> kSynonyms[] = {
    {"feature_unavailable", "arch_incompatible"},
    {"toolchain_incompatible", "arch_incompatible"},
    {"already_applied", "already_selected"},
};

std::string canonical(const std::string& reason) {
  for (const auto& [other, name] : kSynonyms) {
    if (reason == other) return name;
  }
  return reason;
}

std::vector<std::string> reasons() {
  std::vector<std::string> names = {"cannot_apply"};
  for (int i = 1; i <= static_cast<int>(MethodStatus::LowerScore); ++i)
    names.emplace_back(profile::method_status_name(static_cast<MethodStatus>(i)));
  return names;
}

bool has_type(const Json& value, std::string_view type) {
  if (type == "integer") return value.is_int();
  if (type == "number") return value.is_number() || value.is_null();
  if (type == "string") return value.is_string();
  return value.is_array();
}

class ClaimReader {
 public:
  explicit ClaimReader(Claims& claims) : claims_(claims) {}

  void run(std::string_view text, int iteration) {
    Result<Json> json = Json::parse(text);
    if (!json) return error("it is not JSON: " + json.error().message);
    claims_.document = std::move(json).value();
    const Json& document = claims_.document;
    if (!document.is_object()) return error("it must be an object");
    fields(document, "", "");
    if (document["iter"].is_int() && document["iter"].as_int() != iteration)
      error(fmt::format("iter is {}, and iteration {} is open", document["iter"].as_int(),
                        iteration));
    const Json::Array& methods = document["methods"].items();
    if (methods.size() > kMostClaims)
      error(fmt::format("{} methods are claimed; at most {} are allowed", methods.size(),
                        kMostClaims));
    for (size_t i = 0; i < std::min(methods.size(), kMostClaims); ++i) method(methods[i], i);
  }

 private:
  void error(std::string what) { claims_.errors.push_back(std::move(what)); }

  void fields(const Json& object, std::string_view where, const std::string& path) {
    std::vector<std::string> known;
    for (const FieldRow& row : kFields) {
      if (row.where != where) continue;
      known.emplace_back(row.name);
      if (!object.contains(row.name)) {
        if (row.required) error(fmt::format("{}{} is missing", path, row.name));
      } else if (!has_type(object[row.name], row.type)) {
        error(fmt::format("{}{} must be of type {}", path, row.name, row.type));
      }
    }
    for (const auto& [key, value] : object.members()) {
      if (contains(known, key)) continue;
      // Extra keys are allowed, but a key close to a known one is a spelling error.
      if (const std::string meant = closest(key, known); !meant.empty())
        error(fmt::format("{}{} is unknown (did you mean '{}'?)", path, key, meant));
    }
  }

  const Method* named(const Json& item, const std::string& path) {
    const std::string& id = item["id"].as_string();
    const Method* method = catalog::find(id);
    if (method == nullptr && item["id"].is_string())
      error(fmt::format("{}id: there is no method '{}'{}", path, id,
                        did_you_mean(id, catalog::ids())));
    if (method == nullptr) return nullptr;
    const Json& axis = item["axis"];
    if (axis.is_string() && axis.as_string() != method->axis)
      error(fmt::format("{}axis: {} is on the {} axis, not on '{}'", path, id, method->axis,
                        axis.as_string()));
    const Json& priority = item["priority"];
    if (priority.is_int() && priority.as_int() != method->priority)
      error(fmt::format("{}priority: {} has priority {}, not {}", path, id, method->priority,
                        priority.as_int()));
    return method;
  }

  void method(const Json& item, size_t index) {
    const std::string path = fmt::format("methods[{}].", index);
    if (!item.is_object()) return error(fmt::format("methods[{}] must be an object", index));
    fields(item, "methods", path);
    if (const Method* found = named(item, path)) {
      if (contains(claims_.ids, found->id))
        error(fmt::format("{}id: {} is claimed twice", path, found->id));
      else
        claims_.ids.push_back(found->id);
    }
    const Json::Array& skipped = item["skipped_higher"].items();
    for (size_t i = 0; i < skipped.size(); ++i) {
      const std::string inner = fmt::format("{}skipped_higher[{}].", path, i);
      if (!skipped[i].is_object()) {
        error(fmt::format("{}skipped_higher[{}] must be an object", path, i));
        continue;
      }
      fields(skipped[i], "skipped_higher", inner);
      named(skipped[i], inner);
    }
  }

  Claims& claims_;
};

class ClaimGate {
 public:
  ClaimGate(Claims& claims, const profile::Plan& plan, const State& state,
            const profile::AxisBudget& budget)
      : claims_(claims), plan_(plan), state_(state), budget_(budget) {}

  void run() {
    for (const std::string& id : claims_.ids) {
      if (const Judged* judged = find(id)) check_status(*judged);
    }
    relations();
    for (const char* axis : {"compute", "memory", "latency"}) {
      over_budget(axis);
      skipped(axis);
    }
  }

 private:
  void refuse(std::string what) { claims_.refusals.push_back(std::move(what)); }

  const Judged* find(const std::string& id) const {
    const auto found = std::ranges::find_if(
        plan_.methods, [&](const Judged& one) { return one.method->id == id; });
    return found == plan_.methods.end() ? nullptr : &*found;
  }

  bool claimed(const std::string& id) const { return contains(claims_.ids, id); }

  void check_status(const Judged& judged) {
    const std::string& id = judged.method->id;
    switch (judged.status) {
      case MethodStatus::AlreadyApplied:
      case MethodStatus::ArchIncompatible:
      case MethodStatus::NotExpressible:
      case MethodStatus::EffectForbidden:
      case MethodStatus::Banned:
      case MethodStatus::SkipCondition:
        return refuse(
            fmt::format("{}: {} ({})", id, judged.why, profile::method_status_name(judged.status)));
      case MethodStatus::InsufficientEvidence:
      case MethodStatus::NoTrigger:
      case MethodStatus::NoGain:
        claims_.warnings.push_back(
            fmt::format("{}: {} ({})", id, judged.why, profile::method_status_name(judged.status)));
        return;
      case MethodStatus::Chosen:
      case MethodStatus::NeedsOther:
      case MethodStatus::Conflict:
      case MethodStatus::Superseded:
      case MethodStatus::LowerScore:
        return;
    }
  }

  void relations() {
    std::vector<std::string> there = state_.best.methods;
    there.insert(there.end(), claims_.ids.begin(), claims_.ids.end());
    for (const std::string& id : claims_.ids) {
      const Method& method = *catalog::find(id);
      for (const std::string& other : there) {
        if (other == id) continue;
        if (contains(method.conflicts, other))
          refuse(fmt::format("{} and {} exclude each other", id, other));
        if (contains(method.supersedes, other) && claimed(other))
          refuse(fmt::format("{} includes {}; claim one of them", id, other));
      }
      for (const std::string& need : method.needs) {
        if (!contains(there, need)) refuse(fmt::format("{} needs {} first", id, need));
      }
    }
  }

  int claims_on(const std::string& axis) const {
    return static_cast<int>(std::ranges::count_if(
        claims_.ids, [&](const std::string& id) { return catalog::find(id)->axis == axis; }));
  }

  void over_budget(const std::string& axis) {
    const int count = claims_on(axis), most = budget_.of(axis);
    if (count > most)
      refuse(fmt::format("{} methods on the {} axis; its budget is {}", count, axis, most));
  }

  /// What the file says about each skipped method of an axis. The first entry counts.
  std::map<std::string, const Json*> mentions(const std::string& axis) const {
    std::map<std::string, const Json*> found;
    for (const Json& item : claims_.document["methods"].items()) {
      const Method* method = catalog::find(item["id"].as_string());
      if (method == nullptr || method->axis != axis) continue;
      for (const Json& skipped : item["skipped_higher"].items())
        found.try_emplace(skipped["id"].as_string(), &skipped);
    }
    return found;
  }

  void skipped(const std::string& axis) {
    int lowest = 0;
    for (const std::string& id : claims_.ids) {
      const Method* method = catalog::find(id);
      if (method->axis == axis) lowest = std::max(lowest, method->priority);
    }
    const std::map<std::string, const Json*> said = mentions(axis);
    for (const Judged& higher : plan_.methods) {
      const Method& method = *higher.method;
      if (method.axis != axis || method.priority >= lowest || claimed(method.id)) continue;
      const auto mention = said.find(method.id);
      if (mention == said.end()) {
        const std::string reason = reason_not_chosen(plan_, state_, higher, claims_.ids);
        refuse(fmt::format(
            "{} (P{}) comes before what is claimed on the {} axis and is neither claimed nor in "
            "skipped_higher; {}",
            method.id, method.priority, axis,
            reason.empty() ? "it should be tried: " + higher.why
                           : fmt::format("the reason is {}", reason)));
      } else {
        reason(higher, *mention->second);
      }
    }
  }

  void reason(const Judged& higher, const Json& said) {
    const std::string& id = higher.method->id;
    const std::string given = canonical(said["reason"].as_string());
    const std::vector<std::string> known = reasons();
    if (!contains(known, given))
      return refuse(fmt::format("{}: '{}' is not a reason{}; there are {}", id, given,
                                did_you_mean(given, known), join(known, ", ")));
    if (given == "cannot_apply") {
      if (trim(said["why"].as_string()).size() < kLeastWhy)
        refuse(fmt::format("{}: cannot_apply needs a 'why' in words", id));
      return;
    }
    const std::string truth = reason_not_chosen(plan_, state_, higher, claims_.ids);
    if (given != truth)
      refuse(fmt::format("{}: {} is not why it was left out: {}", id, given,
                         truth.empty() ? "it should be tried: " + higher.why
                                       : fmt::format("the reason is {} ({})", truth, higher.why)));
  }

  Claims& claims_;
  const profile::Plan& plan_;
  const State& state_;
  const profile::AxisBudget& budget_;
};

void add_lines(std::string& out, const char* kind, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) out += fmt::format("  {}: {}\n", kind, line);
}

}  // namespace

std::span<const FieldRow> method_fields() { return kFields; }

const Json& Claims::entry(const std::string& id) const {
  static const Json kNone;
  for (const Json& item : document["methods"].items()) {
    if (item["id"].as_string() == id) return item;
  }
  return kNone;
}

Claims read_claims(std::string_view text, int iteration) {
  Claims claims;
  ClaimReader(claims).run(text, iteration);
  return claims;
}

void check_claims(Claims& claims, const profile::Plan& plan, const State& state,
                  const profile::AxisBudget& budget) {
  ClaimGate(claims, plan, state, budget).run();
}

Json to_json(const Claims& claims) {
  JsonWriter v;
  v("methods", claims.ids)("errors", claims.errors)("refusals", claims.refusals);
  return v("warnings", claims.warnings).take();
}

std::string claims_text(const Claims& claims) {
  std::string out;
  add_lines(out, "error", claims.errors);
  add_lines(out, "refused", claims.refusals);
  add_lines(out, "note", claims.warnings);
  return out;
}

}  // namespace kw::optimize
