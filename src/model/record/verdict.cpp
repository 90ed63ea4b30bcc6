#include "record/verdict.h"

#include <array>

namespace kw::record {

namespace {

constexpr std::array<const char*, 8> kStageNames = {"static",  "compile",     "vgpu",  "numerics",
                                                    "hygiene", "metamorphic", "audit", "timing"};

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? to_json(*value) : Json();
}

}  // namespace

const char* stage_name(Stage stage) { return kStageNames[static_cast<size_t>(stage)]; }

Json to_json(const Cell& cell) {
  Json json = Json::object();
  json.set("shape", cell.shape).set("family", cell.family).set("certified", cell.certified);
  return json.set("seed", cell.certified ? Json() : Json(cell.seed));
}

Json to_json(const Worst& worst) {
  Json index = Json::array();
  for (const int64_t i : worst.index) index.push(i);
  Json json = Json::object();
  json.set("output", worst.output).set("index", index);
  json.set("got", worst.got).set("want", worst.want).set("bound", worst.bound);
  return json.set("z", worst.z).set("ulps", worst.ulps).set("why", worst.why);
}

Json to_json(const ErrorSummary& summary) {
  Json json = Json::object();
  json.set("max_z", summary.max_z).set("rms_z", summary.rms_z);
  json.set("max_abs", summary.max_abs).set("max_rel", summary.max_rel);
  json.set("max_ulps", summary.max_ulps).set("elements", summary.elements);
  json.set("discontinuous", summary.discontinuous).set("overflowed", summary.overflowed);
  return json.set("worst", or_null(summary.worst)).set("cell", or_null(summary.cell));
}

const char* verdict_name(const Verdict& verdict) {
  constexpr std::array<const char*, 5> kNames = {"rejected", "crashed", "wrong", "passed",
                                                 "unknown"};
  static_assert(std::variant_size_v<Verdict> == kNames.size());
  return kNames[verdict.index()];
}

bool passed(const Verdict& verdict) { return std::holds_alternative<Passed>(verdict); }

Json to_json(const Verdict& verdict) {
  Json json = Json::object();
  json.set("verdict", verdict_name(verdict));
  if (const auto* rejected = std::get_if<Rejected>(&verdict)) {
    json.set("stage", stage_name(rejected->stage)).set("reason", rejected->reason);
    json.set("finding", or_null(rejected->finding)).set("repro", rejected->repro);
  } else if (const auto* crashed = std::get_if<Crashed>(&verdict)) {
    json.set("reason", crashed->what).set("cell", or_null(crashed->cell));
    json.set("repro", crashed->repro);
  } else if (const auto* wrong = std::get_if<Wrong>(&verdict)) {
    json.set("stage", stage_name(wrong->stage)).set("reason", wrong->reason);
    json.set("error", to_json(wrong->summary)).set("repro", wrong->repro);
  } else if (const auto* good = std::get_if<Passed>(&verdict)) {
    json.set("error", to_json(good->summary)).set("cells", good->cells);
    json.set("deterministic", good->deterministic ? Json(*good->deterministic) : Json());
  } else {
    json.set("missing_evidence", std::get<Unknown>(verdict).missing_evidence);
  }
  return json;
}

}  // namespace kw::record
