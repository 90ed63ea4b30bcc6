#include <fmt/core.h>

#include <map>

#include "core/hash.h"
#include "optimize/ablations.h"
#include "optimize/bench_file.h"
#include "optimize/branches.h"
#include "optimize/steps.h"

namespace kw::optimize {
namespace {

std::string ablation_line(const Ablation& one) {
  const Attribution& a = one.attribution;
  std::string text = fmt::format("  {:<44} ", one.method);
  switch (a.kind) {
    case Attribution::Kind::Measured:
      text += fmt::format("{} ({:.2f} to {:.2f})", change_text(a.pct), a.low, a.high);
      break;
    case Attribution::Kind::Estimated:
      text += "estimated to take " + change_text(a.pct);
      break;
    case Attribution::Kind::Essential:
      text += "the kernel does not work without it: " + a.note;
      break;
    case Attribution::Kind::Broken:
      text += "the kernel without it could not be timed: " + a.note;
      break;
    case Attribution::Kind::Missing:
      text += "there is no kernel without it";
      break;
  }
  return text + (one.note.empty() ? "" : " (" + one.note + ")") + "\n";
}

Result<std::vector<std::string>> claimed_methods(const Folder& folder) {
  const std::string text =
      KW_TRY(folder.read_stamped(Folder::in_iteration(folder.state.iter, "methods.json")));
  return read_claims(text, folder.state.iter).ids;
}

/// Races the champion, first, and each kernel without one method, together.
Status race_ablations(Folder& folder, OptimizeTools& tools, const std::string& champion,
                      std::vector<Ablation>& ablations, const Say& say) {
  // Several methods may share one switch, so one kernel counts for all of them.
  std::vector<std::string> texts = {champion};
  std::map<std::string, size_t> places;
  for (const Ablation& one : ablations) {
    if (one.text.empty()) continue;
    if (places.try_emplace(one.text, texts.size()).second) texts.push_back(one.text);
  }
  if (texts.size() == 1) return Done{};
  if (say)
    say(fmt::format("racing the champion against {} kernels without a method", texts.size() - 1));
  const std::vector<ports::Outcome> raced = KW_TRY(race(*tools.judge, texts));
  if (!passed(raced.front()))
    return environment_error("the champion passed before and does not pass now: {}",
                             problem_of(raced.front()));
  // The difference that the clock can detect depends on the kernel, so the champion's noise is
  // measured.
  if (raced.front().measured) folder.state.noise = KW_TRY(noise_of(*tools.judge, champion));
  for (Ablation& one : ablations) {
    if (one.text.empty()) continue;
    const ports::Outcome& result = raced[places.at(one.text)];
    one.attribution = attribution_of(raced.front(), result);
    KW_TRY(folder.write_stamped(one.file, one.text));
    const std::string bench = one.file.substr(0, one.file.rfind('/')) + "/bench.json";
    KW_TRY(folder.write_json(bench, bench_document(folder.state, one.file, result)));
  }
  return Done{};
}

}  // namespace

Result<Outcome> ablate(Folder& folder, OptimizeTools& tools, const CloseOptions& options) {
  State& state = folder.state;
  KW_TRY(may(state, Step::Ablate, state.iter));
  KW_TRY(check_frozen(folder, tools));
  KW_TRY(check_raced(folder));
  const std::string champion =
      KW_TRY(folder.read_stamped(Folder::in_iteration(state.iter, "kernel.cu")));
  std::vector<Ablation> ablations;
  const std::vector<std::string> claimed = KW_TRY(claimed_methods(folder));
  for (const std::string& id : claimed) ablations.push_back(find_ablation(folder, champion, id));
  for (const std::string& id : unclaimed_methods(state, champion, claimed)) {
    ablations.push_back(find_ablation(folder, champion, id));
    ablations.back().claimed = false;
  }
  KW_TRY(race_ablations(folder, tools, champion, ablations, options.say));
  const Json document = attribution_document(state, ablations);
  KW_TRY(folder.write_stamped(Folder::in_iteration(state.iter, "attribution.json"),
                              document.dump(true) + "\n"));
  state.phase = Phase::Ablated;
  KW_TRY(folder.commit("ablate"));
  Outcome outcome;
  outcome.document = document;
  outcome.document.set("next_step", next_step(state));
  for (const Ablation& one : ablations) outcome.text += ablation_line(one);
  if (ablations.empty()) outcome.text = "  no method is claimed\n";
  return outcome;
}

}  // namespace kw::optimize
