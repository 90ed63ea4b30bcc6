#include "optimize/records.h"

#include <fmt/core.h>

#include "optimize/evidence.h"
#include "optimize/plan.h"

namespace kw::optimize {
namespace {

Json& list_of(State& state, Class what) {
  switch (what) {
    case Class::Effective:
      return state.effective;
    case Class::Ineffective:
      return state.ineffective;
    case Class::ImplementationFailed:
      return state.implementation_failed;
    case Class::Unverified:
      break;
  }
  return state.unverified;
}

/// The entry of a method in methods.json, or only its id.
Json claim_entry(const State& state, const Claims& claims, const std::string& id) {
  Json entry = claims.entry(id).is_object() ? claims.entry(id) : Json::object().set("id", id);
  const catalog::Method* method = catalog::find(id);
  if (method != nullptr)
    entry.set("name", method->title).set("axis", method->axis).set("priority", method->priority);
  return entry.set("iter", state.iter);
}

}  // namespace

void forget_inputs(State& state) {
  const std::string iteration = fmt::format("iterv{}/", state.iter);
  std::erase_if(state.stamps, [&](const auto& stamp) {
    const std::string& name = stamp.first;
    return name.starts_with(iteration) && name != state.best.roofline && name != state.best.metrics;
  });
}

void record_method(State& state, const Claims& claims, const MethodResult& result,
                   const std::string& context) {
  Json entry = claim_entry(state, claims, result.id);
  entry.set("claimed", result.claimed);
  if (result.claimed) state.selected.push(entry);
  const Attribution& a = result.attribution;
  entry.set("class", class_name(result.classified.what)).set("note", result.classified.why);
  entry.set("attribution", attribution_name(a.kind));
  const bool known =
      a.kind == Attribution::Kind::Measured || a.kind == Attribution::Kind::Estimated;
  const double champion_us = state.champion && state.champion->us ? *state.champion->us : 0;
  entry.set("attribution_pct", known ? Json(a.pct) : Json());
  entry.set("attribution_ms", known ? Json(a.pct / 100 * champion_us / 1000) : Json());
  entry.set("attribution_interval_pct", a.kind == Attribution::Kind::Measured
                                            ? Json::array().push(a.low).push(a.high)
                                            : Json());
  entry.set("sass", profile::sass_state_name(result.seen)).set("sass_why", result.seen_why);
  if (state.champion && state.champion->ratio)
    entry.set("speedup_vs_best_before", state.champion->ratio->value);
  list_of(state, result.classified.what).push(entry);
  const bool failed = result.classified.what == Class::Ineffective ||
                      result.classified.what == Class::ImplementationFailed;
  if (failed) state.bans.push_back({result.id, context, result.classified.why, state.iter});
}

Status record_failure(Folder& folder, const std::vector<std::string>& claimed) {
  State& state = folder.state;
  const Evidence evidence = KW_TRY(evidence_about(folder, state.best));
  const std::string context = KW_TRY(context_of(state, evidence.roofline));
  const Result<std::string> text = folder.read(Folder::in_iteration(state.iter, "methods.json"));
  const Claims claims = text ? read_claims(*text, state.iter) : Claims{};
  for (const std::string& id : claimed) {
    MethodResult result;
    result.id = id;
    result.seen_why = "no kernel with it passed";
    result.classified = {Class::ImplementationFailed,
                         fmt::format("every branch failed, {} times", state.retries)};
    record_method(state, claims, result, context);
  }
  state.history.push(Json::object()
                         .set("iter", state.iter)
                         .set("kernel_file", Json())
                         .set("methods", strings_json(claimed))
                         .set("ms", Json())
                         .set("speedup_vs_best_before", Json())
                         .set("validation_passed", false)
                         .set("status", "failed_validation")
                         .set("adopted", false)
                         .set("retries", state.retries - 1));
  state.phase = Phase::Closed;
  return Done{};
}

}  // namespace kw::optimize
