#include "optimize/phase.h"

#include <fmt/core.h>

#include "core/text.h"

namespace kw::optimize {
namespace {

constexpr unsigned bit(Phase phase) { return 1U << static_cast<unsigned>(phase); }

constexpr unsigned kOpen =
    bit(Phase::Opened) | bit(Phase::Raced) | bit(Phase::Ablated) | bit(Phase::Checked);

struct StepRow {
  const char* name;
  unsigned from;  // bits of phases
};
constexpr StepRow kSteps[] = {
    {"open-iter", bit(Phase::Ready) | bit(Phase::Closed)},
    {"validate-methods", kOpen},
    {"roofline", ~0U},
    {"branch", kOpen},
    {"ablate", bit(Phase::Raced) | bit(Phase::Ablated) | bit(Phase::Checked)},
    {"sass", bit(Phase::Ablated) | bit(Phase::Checked)},
    {"close-iter", kOpen},
    {"finalize", bit(Phase::Ready) | bit(Phase::Closed)},
};

bool is_open(const State& state) { return (kOpen & bit(state.phase)) != 0; }

std::string where(const State& state) {
  if (state.phase == Phase::Ready) return "no iteration was opened yet";
  if (state.phase == Phase::Finalized) return "the run is finalized";
  if (state.phase == Phase::Closed)
    return fmt::format("iteration {} is closed and none is open", state.iter);
  return fmt::format("iteration {} is open ({})", state.iter, phase_name(state.phase));
}

Error refusal(const State& state, Step step, const std::string& why) {
  return input_error("{} cannot be done now: {}. Next: {}", step_name(step), why, next_step(state));
}

Status check_iteration(const State& state, Step step, int iteration, bool force) {
  const int expected = default_iteration(state, step);
  if (step == Step::Finalize) return Done{};
  if (iteration != expected) {
    const std::string why =
        step == Step::OpenIter && iteration <= state.iter
            ? fmt::format("iteration {} was closed and is not opened again", iteration)
        : step == Step::OpenIter ? fmt::format("iteration {} comes before {}", expected, iteration)
                                 : fmt::format("{}, not {}", where(state), iteration);
    return refusal(state, step, why);
  }
  if (step == Step::OpenIter && iteration > state.settings.iterations && !force)
    return refusal(state, step,
                   fmt::format("all {} iterations are done (--force opens one more)",
                               state.settings.iterations));
  return Done{};
}

}  // namespace

const char* step_name(Step step) { return kSteps[static_cast<size_t>(step)].name; }

int default_iteration(const State& state, Step step) {
  return step == Step::OpenIter ? state.iter + 1 : state.iter;
}

Status may(const State& state, Step step, int iteration, bool force) {
  const bool abandons = step == Step::Finalize && force && is_open(state);
  const unsigned from = kSteps[static_cast<size_t>(step)].from;
  if ((from & bit(state.phase)) == 0 && !abandons) {
    std::string why = where(state);
    if (step == Step::Finalize && is_open(state)) why += " (--force gives it up)";
    return refusal(state, step, why);
  }
  return check_iteration(state, step, iteration, force);
}

std::string next_step(const State& state) {
  const std::string run = shell_quote(state.run_dir);
  const auto command = [&](const char* step, int iteration) {
    return fmt::format("kernelwright optimize {} --run-dir {} --iter {}", step, run, iteration);
  };
  const std::string finalize = fmt::format("kernelwright optimize finalize --run-dir {}", run);
  switch (state.phase) {
    case Phase::Ready:
      return command("open-iter", 1);
    case Phase::Closed:
      return state.iter < state.settings.iterations ? command("open-iter", state.iter + 1)
                                                    : finalize;
    case Phase::Opened:
      return fmt::format(
          "write iterv{0}/methods.json and iterv{0}/branches/b1/kernel.cu … b{1}, then {2}",
          state.iter, state.settings.branches, command("close-iter", state.iter));
    case Phase::Raced:
    case Phase::Ablated:
    case Phase::Checked:
      return command("close-iter", state.iter);
    case Phase::Finalized:
      return fmt::format("read {}/summary.md; a new run begins with kernelwright optimize setup",
                         run);
  }
  return "";
}

}  // namespace kw::optimize
