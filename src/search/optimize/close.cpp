// At the end of an iteration the run must learn from it: which methods worked, and whether the
// champion is the new best. close_iter runs the missing steps (race, ablation, machine code), then
// classifies each method from files that earlier steps stamped. The champion is adopted only if it
// beats its parent by more than the threshold. A method's class does not depend on that, except for
// essential methods. Adopting the fastest branch always was the alternative; noise would then add
// up over iterations. The state is committed once at the end, so a crash repeats the closing.
#include <fmt/core.h>

#include "core/contains.h"
#include "core/json_writer.h"
#include "kernel/methods.h"
#include "kernel/parse_module.h"
#include "optimize/ablations.h"
#include "optimize/bench_file.h"
#include "optimize/branches.h"
#include "optimize/evidence.h"
#include "optimize/iteration_plan.h"
#include "optimize/method_history.h"
#include "optimize/records.h"
#include "optimize/steps.h"

namespace kw::optimize {
namespace {

/// The methods of the champion: those its own text claims, or its parent's if the text names none.
/// Failed claims are removed, other claims added.
std::vector<std::string> methods_of(const State& state, const std::string& text,
                                    const std::vector<MethodResult>& results) {
  std::vector<std::string> ids;
  const auto add = [&](const std::string& id) {
    if (!contains(ids, id)) ids.push_back(id);
  };
  const kernel::ParseOutcome parsed = kernel::parse(text, "kernel.cu");
  if (parsed.module && !parsed.module->methods.empty()) {
    if (const auto tunes = kernel::default_tunes(*parsed.module)) {
      for (const std::string& id : kernel::active_methods(*parsed.module, *tunes)) add(id);
    }
  } else {
    for (const std::string& id : state.best.methods) add(id);
  }
  for (const MethodResult& one : results) {
    if (one.classified.what == Class::ImplementationFailed)
      std::erase(ids, one.id);
    else
      add(one.id);
  }
  return ids;
}

std::string status_of(const BestKernel& champion, bool improved) {
  if (improved) return "improved";
  if (champion.ratio && champion.ratio->relation == "SLOWER") return "regressed";
  return "unchanged";
}

/// The last part of an iteration, when all files about the champion exist.
class Closing {
 public:
  Closing(Folder& folder, Outcome& outcome)
      : folder_(folder), state_(folder.state), outcome_(outcome) {}

  Status run() {
    KW_TRY(load());
    improved_ = improves(state_, *state_.champion, parent_us_);
    KW_TRY(classify_all());
    const Evidence evidence = KW_TRY(evidence_about(folder_, champion_));
    state_.roofline_history.push(profile::history_row(state_.iter, evidence.roofline));
    for (const Json& entry : branch_results_["frontier"].items()) state_.frontier.push(entry);
    add_history();
    const BestKernel champion = *state_.champion;
    if (improved_) {
      champion_.methods = methods_of(state_, text_, results_);
      state_.best = champion_;
    }
    forget_inputs(state_);
    state_.champion.reset();
    state_.phase = Phase::Closed;
    KW_TRY(folder_.commit("close-iter", Json::object().set("adopted", improved_)));
    const Evidence now = KW_TRY(evidence_about(folder_, state_.best));
    say(champion, now.roofline);
    return Done{};
  }

 private:
  std::string name(const char* file) const { return Folder::in_iteration(state_.iter, file); }

  Result<Json> document(const char* file) const {
    const std::string text = KW_TRY(folder_.read_stamped(name(file)));
    return Json::parse(text);
  }

  Status load() {
    text_ = KW_TRY(folder_.read_stamped(name("kernel.cu")));
    const std::string methods = KW_TRY(folder_.read_stamped(name("methods.json")));
    claims_ = read_claims(methods, state_.iter);
    branch_results_ = KW_TRY(document("branch_results.json"));
    sass_ = KW_TRY(document("sass_check.json"));
    ablations_ = KW_TRY(read_ablations(folder_));
    if (const Json& ms = branch_results_["parent"]["ms"]; ms.is_number())
      parent_us_ = ms.as_double() * 1000;
    champion_.file = name("kernel.cu");
    champion_.roofline = name("kernel_roofline.json");
    champion_.metrics = name("kernel_ncu_top.json");
    if (folder_.has(name("kernel.ncu-rep"))) champion_.ncu_report = name("kernel.ncu-rep");
    champion_.us = state_.champion->us;
    champion_.measured = state_.champion->measured;
    champion_.iter = state_.iter;
    return Done{};
  }

  Status classify_all() {
    const Evidence parent = KW_TRY(evidence_about(folder_, state_.best));
    const std::string context = KW_TRY(context_of(state_, parent.roofline));
    for (const Ablation& one : ablations_) {
      MethodResult result;
      result.id = one.method;
      result.claimed = one.claimed;
      result.attribution = one.attribution;
      for (const Json& check : sass_["checks"].items()) {
        const MethodHistory seen = method_history_of(check);
        if (seen.method != one.method) continue;
        result.seen = seen.state;
        result.seen_why = seen.why;
      }
      result.classified = classify(result.seen, one.attribution, state_.threshold_pct(), improved_);
      record_method(state_, claims_, result, context);
      results_.push_back(std::move(result));
    }
    return Done{};
  }

  void add_history() {
    Json classes = Json::object(), names = Json::array();
    for (const MethodResult& one : results_) {
      classes.set(one.id, class_name(one.classified.what));
      if (one.claimed) names.push(catalog::find(one.id)->title);
    }
    const BestKernel& champion = *state_.champion;
    JsonWriter v;
    v("iter", state_.iter)("kernel_file", champion_.file)("branch", champion.branch);
    v("parent_file", state_.best.file)("methods", claims_.ids)("method_names", names);
    v("classes", classes)("ms", ms_of(champion.us))("parent_ms", ms_of(parent_us_));
    v("measured", champion.measured)("speedup_vs_best_before", champion.ratio);
    v("validation_passed", true)("status", status_of(champion, improved_))("adopted", improved_);
    v("retries", state_.retries)("overridden", state_.overridden);
    state_.history.push(v.take());
  }

  void say(const BestKernel& champion, const profile::Roofline& roofline) {
    outcome_.text += "methods\n";
    for (const MethodResult& one : results_)
      outcome_.text += fmt::format("  {:<44} {}: {}\n", one.id, class_name(one.classified.what),
                                   one.classified.why);
    if (results_.empty()) outcome_.text += "  none was claimed\n";
    const std::string status = status_of(champion, improved_);
    outcome_.text +=
        fmt::format("iteration {} closed: {} is {}{}{}\n", state_.iter, champion.branch,
                    improved_               ? "the new best"
                    : status == "regressed" ? "slower than its parent"
                                            : "not clearly faster than its parent",
                    champion.ratio ? ", " + ratio_text(*champion.ratio) : "",
                    champion.measured ? "" : " (estimated)");
    outcome_.text +=
        fmt::format("best: {} ({})\nnext: {}\n", state_.best.file,
                    time_text(state_.best.us, state_.best.measured), next_step(state_));
    JsonWriter v(std::move(outcome_.document));
    v("iter", state_.iter)("status", status)("adopted", improved_);
    v.group("champion", [&](auto& g) {
      g("branch", champion.branch)("ms", ms_of(champion.us))("measured", champion.measured);
      g("speedup", champion.ratio);
    });
    v("methods", json_list(results_, [](auto& row, const MethodResult& one) {
        row("id", one.id)("claimed", one.claimed);
        row("class", class_name(one.classified.what))("why", one.classified.why);
      }));
    v("best_file", state_.best.file)("best_metric_ms", ms_of(state_.best.us));
    v("roofline", roofline)("early_stop", roofline.near_peak)("next_step", next_step(state_));
    outcome_.document = v.take();
  }

  Folder& folder_;
  State& state_;
  Outcome& outcome_;
  Claims claims_;
  Json branch_results_, sass_;
  std::vector<Ablation> ablations_;
  std::vector<MethodResult> results_;
  std::optional<double> parent_us_;
  Kept champion_;
  std::string text_;
  bool improved_ = false;
};

}  // namespace

Result<Outcome> close_iter(Folder& folder, OptimizeTools& tools, const CloseOptions& options) {
  State& state = folder.state;
  KW_TRY(may(state, Step::CloseIter, state.iter));
  KW_TRY(check_frozen(folder, tools));
  Outcome outcome;
  if (state.phase == Phase::Opened) {
    Outcome raced = KW_TRY(branch(folder, tools, options));
    if (!raced.ok) return raced;
    outcome.text += "branches\n" + raced.text;
  }
  KW_TRY(check_raced(folder));
  if (state.phase == Phase::Raced) {
    const Outcome ablated = KW_TRY(ablate(folder, tools, options));
    outcome.text += "without each method\n" + ablated.text;
  }
  if (state.phase == Phase::Ablated) {
    const Outcome seen = KW_TRY(check_sass(folder, tools, options));
    outcome.text += "machine code\n" + seen.text;
  }
  KW_TRY(Closing(folder, outcome).run());
  return outcome;
}

}  // namespace kw::optimize
