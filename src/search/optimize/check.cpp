#include <fmt/core.h>

#include <map>
#include <optional>

#include "core/json_writer.h"
#include "optimize/ablations.h"
#include "optimize/branches.h"
#include "optimize/evidence.h"
#include "optimize/method_history.h"
#include "optimize/steps.h"

namespace kw::optimize {
namespace {

using Code = std::vector<profile::SassFunction>;

/// Looks for every claimed method in one champion.
class MethodWatch {
 public:
  MethodWatch(Folder& folder, OptimizeTools& tools, const profile::Examined& champion)
      : folder_(folder), tools_(tools), champion_(champion) {}

  Result<MethodHistory> look(const Ablation& ablation) {
    const catalog::Method& method = *catalog::find(ablation.method);
    std::optional<Code> without;
    MethodHistory seen;
    seen.method = method.id;
    if (!champion_.sass.empty()) {
      without = KW_TRY(compared(ablation, seen.compared_with));
      const profile::SassVerdict verdict =
          profile::sass_verdict(method, champion_.sass, without ? &*without : nullptr);
      seen.state = verdict.state;
      seen.why = verdict.why;
      seen.rows = verdict.sightings;
    } else {
      seen.why = champion_.no_sass.empty() ? "there is no machine code" : champion_.no_sass;
    }
    // A method that no instruction shows may be visible in the launches: their number and shape.
    if (!method.sass.empty() || ablation.text.empty() ||
        ablation.attribution.kind == Attribution::Kind::Broken ||
        ablation.attribution.kind == Attribution::Kind::Essential)
      return seen;
    const profile::Examined& other = *KW_TRY(examined(ablation));
    const MethodHistory counted = seen_by_counters(method, champion_.metrics, other.metrics);
    const bool absent = seen.state == profile::SassState::Absent;
    const bool other_launches = champion_.launches != other.launches;
    if (counted.state == profile::SassState::Verified || !absent || other_launches) return counted;
    return seen;
  }

 private:
  /// The kernel without the method, otherwise the parent.
  Result<std::optional<Code>> compared(const Ablation& ablation, std::string& with) {
    if (!ablation.text.empty() && ablation.attribution.kind != Attribution::Kind::Broken) {
      with = "ablated";
      auto known = codes_.find(ablation.text);
      if (known == codes_.end())
        known = codes_.emplace(ablation.text, KW_TRY(tools_.examiner->machine_code(ablation.text)))
                    .first;
      return known->second;
    }
    with = "parent";
    if (!parent_) {
      const std::string text = KW_TRY(folder_.read(folder_.state.best.file, kMostKernelBytes));
      parent_ = KW_TRY(tools_.examiner->machine_code(text));
    }
    return *parent_;
  }

  Result<const profile::Examined*> examined(const Ablation& ablation) {
    auto known = examined_.find(ablation.text);
    if (known == examined_.end()) {
      profile::Examined seen =
          KW_TRY(tools_.examiner->evidence(ablation.text, ablation.attribution.ablated_us, ""));
      known = examined_.emplace(ablation.text, std::move(seen)).first;
    }
    return &known->second;
  }

  Folder& folder_;
  OptimizeTools& tools_;
  const profile::Examined& champion_;
  std::optional<std::optional<Code>> parent_;
  // By text: methods that share a switch have the same kernel without them.
  std::map<std::string, std::optional<Code>> codes_;
  std::map<std::string, profile::Examined> examined_;
};

}  // namespace

Result<Outcome> check_sass(Folder& folder, OptimizeTools& tools, const CloseOptions& options) {
  State& state = folder.state;
  KW_TRY(may(state, Step::Sass, state.iter));
  KW_TRY(check_frozen(folder, tools));
  KW_TRY(check_raced(folder));
  const auto name = [&](const char* file) { return Folder::in_iteration(state.iter, file); };
  const std::string champion = KW_TRY(folder.read_stamped(name("kernel.cu")));
  const std::vector<Ablation> ablations = KW_TRY(read_ablations(folder));
  if (options.say) options.say("examining the champion");
  const std::string report = name("kernel.ncu-rep");
  KW_TRY(folder.remove(report));
  const profile::Examined examined =
      KW_TRY(tools.examiner->evidence(champion, state.champion->us, folder.at(report)));
  Kept kept;
  kept.file = name("kernel.cu");
  kept.ncu_report = examined.ncu_report.empty() ? "" : report;
  KW_TRY(keep_evidence(folder, evidence_of(examined), name("kernel_roofline.json"),
                       name("kernel_ncu_top.json"), kept));
  MethodWatch watch(folder, tools, examined);
  Outcome outcome;
  Json checks = Json::array();
  for (const Ablation& one : ablations) {
    const MethodHistory seen = KW_TRY(watch.look(one));
    checks.push(to_json(seen));
    outcome.text += fmt::format("  {:<44} {} ({})\n", seen.method,
                                profile::sass_state_name(seen.state), seen.why);
  }
  JsonWriter v;
  v("iter", state.iter)("kernel", kept.file)("target", state.target);
  v("available", !examined.sass.empty())("note", examined.no_sass)("checks", checks);
  outcome.document = v.take();
  KW_TRY(folder.write_stamped(name("sass_check.json"), outcome.document.dump(true) + "\n"));
  state.phase = Phase::Checked;
  KW_TRY(folder.commit("sass"));
  outcome.document.set("next_step", next_step(state));
  if (ablations.empty()) outcome.text = "  no method is claimed\n";
  return outcome;
}

}  // namespace kw::optimize
