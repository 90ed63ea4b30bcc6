#include "optimize/records.h"

#include <fmt/core.h>

#include "core/json_writer.h"
#include "optimize/evidence.h"
#include "optimize/iteration_plan.h"

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

void record_no_kernel(State& state, const char* status, const std::vector<std::string>& claimed) {
  const bool failed = status == std::string_view("failed_validation");
  JsonWriter v;
  v("iter", state.iter)("kernel_file", Json())("methods", claimed)("ms", Json());
  v("speedup_vs_best_before", Json(), When{failed})("validation_passed", false)("status", status);
  v("adopted", false)("retries", failed ? state.retries - 1 : state.retries);
  state.history.push(v.take());
}

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
  const std::optional<BestKernel>& champion = state.champion;
  JsonWriter v(std::move(entry));
  v("class", class_name(result.classified.what))("note", result.classified.why);
  v("attribution", attribution_name(a.kind))("attribution_pct", a.known_pct());
  v("attribution_ms", a.known_ms(champion ? champion->us : std::nullopt));
  v("attribution_interval_pct", a.interval_pct());
  v("sass", profile::sass_state_name(result.seen))("sass_why", result.seen_why);
  if (champion && champion->ratio) v("speedup_vs_best_before", champion->ratio->value);
  list_of(state, result.classified.what).push(v.take());
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
  record_no_kernel(state, "failed_validation", claimed);
  state.phase = Phase::Closed;
  return Done{};
}

}  // namespace kw::optimize
