// The performance stage: every candidate must pass the gate before it is timed. The best one is
// kept, and the stage ends at the goal.
#include <fmt/core.h>

#include <algorithm>

#include "stages/impl.h"
#include "stages/prompts.h"

namespace kw::stages {
namespace {

std::string time_text(double us, bool measured) {
  if (us <= 0) return "unknown time";
  return fmt::format("{:.2f} us ({})", us, measured ? "measured" : "estimated");
}

}  // namespace

std::string Stages::Impl::hints(const record::Candidate& candidate) {
  return data("data", ports.judge->explain(candidate));
}

bool Stages::Impl::good_enough() const {
  return history.us > 0 && input.floor_us > 0 && input.floor_us / history.us >= input.goal;
}

Result<std::string> Stages::Impl::judge_faster(const TryRequest& request, const Try& made) {
  const record::Candidate& candidate = *made.candidate;
  const auto refused = [&](const char* what, const ports::Outcome& look) -> Result<std::string> {
    const std::string outcome = fmt::format("{}: {}", what, look.refused);
    KW_TRY(note(request, made, false, outcome));
    return fmt::format("Your last module {}.\n{}\n{}", what,
                       data("data", look.refused + "\n\n" + look.detail), source_text(candidate));
  };
  if (history.best && candidate.id == history.best->id) {
    KW_TRY(note(request, made, false, "the module is the one that was shown"));
    return std::string("Your last answer was the module you were shown, unchanged.");
  }
  const ports::Outcome compiled =
      KW_TRY(ports.judge->examine_one(candidate, ports::Depth::Compile));
  if (!compiled.passed()) return refused("does not compile", compiled);
  const ports::Outcome right = KW_TRY(ports.judge->examine_one(candidate, ports::Depth::Verify));
  if (!right.passed()) return refused("is not right", right);
  const ports::Outcome time = KW_TRY(ports.judge->examine_one(candidate, ports::Depth::Time));
  if (!time.passed()) return refused("cannot be timed", time);
  const double last = history.us;
  consider(candidate, time);
  const bool better = history.best->id == candidate.id;
  KW_TRY(note(request, made, better, time_text(time.us, time.measured), time.us));
  return fmt::format("Your last module ({}) is right and takes {}; the best before it took {}. {}",
                     candidate.id, time_text(time.us, time.measured),
                     time_text(last, time.measured),
                     better ? "It is the best now." : "The earlier module is still the best.");
}

Result<std::string> Stages::Impl::faster(const TryRequest& request) {
  const Try made = KW_TRY(writer.submit(request));
  if (writer.failure()) return std::string();
  if (made.candidate) return judge_faster(request, made);
  KW_TRY(note(request, made, false, made.problem));
  return "Your last answer could not be used: " + made.problem;
}

Status Stages::Impl::performance() {
  std::string feedback = "These are the results so far.";
  const int normal = plan.budget(Stage::Performance);
  const int extra = plan.escalate ? plan.escalated_performance : 0;
  const int begin = used(Stage::Performance, false) + used(Stage::Performance, true);
  for (int i = begin; i < normal + extra; ++i) {
    if (good_enough()) {
      history.notes.push_back(fmt::format("performance: goal reached, {:.0f} % of the floor",
                                          100 * input.floor_us / history.us));
      break;
    }
    const bool escalated = i >= normal;
    if (escalated && !history.stages.empty()) {
      history.notes.push_back("performance: " + plan.escalation.text() +
                              " was asked with the whole history");
      writer.begin(true);
      writer.say("Attempts so far:\n" + data("data", history_text(attempts)));
    }
    writer.set_current(*history.best);
    writer.say(prompt("performance", {{"feedback", feedback},
                                      {"source", source_text(*history.best)},
                                      {"time", time_text(history.us, history.measured)},
                                      {"hints", hints(*history.best)}}));
    const TryRequest request{Stage::Performance, i + 1, escalated,
                             fmt::format("stage4_performance/perf_repair/{}attempt_{:02}",
                                         escalated ? "escalated/" : "", i + 1)};
    feedback = KW_TRY(faster(request));
    if (feedback.empty()) return Done{};
  }
  return Done{};
}

}  // namespace kw::stages
