#include "optimize/phase.h"

#include <gtest/gtest.h>

namespace kw::optimize {
namespace {

constexpr int kAt = 2;  // the iteration of every phase after Ready

struct PhaseRow {
  Phase phase;
  const char* allowed;  // steps allowed for the default iteration, without force
};

class Phases : public testing::TestWithParam<PhaseRow> {};

State in_phase(Phase phase) {
  State state;
  state.run_dir = "/runs/a run";
  state.phase = phase;
  state.iter = phase == Phase::Ready ? 0 : kAt;
  return state;
}

TEST_P(Phases, AllowExactlyTheseSteps) {
  const State state = in_phase(GetParam().phase);
  std::string allowed;
  for (int i = 0; i <= static_cast<int>(Step::Finalize); ++i) {
    const Step step = static_cast<Step>(i);
    const Status status = may(state, step, default_iteration(state, step));
    if (status) {
      allowed += std::string(allowed.empty() ? "" : " ") + step_name(step);
      continue;
    }
    EXPECT_EQ(status.error().blame, Blame::Input);
    EXPECT_NE(status.error().message.find("Next: " + next_step(state)), std::string::npos)
        << status.error().message;
  }
  EXPECT_EQ(allowed, GetParam().allowed) << phase_name(GetParam().phase);
}

INSTANTIATE_TEST_SUITE_P(
    All, Phases,
    testing::Values(
        PhaseRow{Phase::Ready, "open-iter roofline finalize"},
        PhaseRow{Phase::Opened, "validate-methods roofline branch close-iter"},
        PhaseRow{Phase::Raced, "validate-methods roofline branch ablate close-iter"},
        PhaseRow{Phase::Ablated, "validate-methods roofline branch ablate sass close-iter"},
        PhaseRow{Phase::Checked, "validate-methods roofline branch ablate sass close-iter"},
        PhaseRow{Phase::Closed, "open-iter roofline finalize"},
        PhaseRow{Phase::Finalized, "roofline"}));

TEST(Phases, OtherIterationsAreRefused) {
  State closed = in_phase(Phase::Closed);
  EXPECT_NE(may(closed, Step::OpenIter, 2).error().message.find("not opened again"),
            std::string::npos);
  EXPECT_NE(may(closed, Step::OpenIter, 4).error().message.find("iteration 3 comes before 4"),
            std::string::npos);
  const State open = in_phase(Phase::Opened);
  EXPECT_NE(
      may(open, Step::CloseIter, 1).error().message.find("iteration 2 is open (opened), not 1"),
      std::string::npos);
}

TEST(Phases, ForceOpensMoreAndGivesUp) {
  State closed = in_phase(Phase::Closed);
  closed.settings.iterations = 2;
  EXPECT_NE(may(closed, Step::OpenIter, 3).error().message.find("all 2 iterations are done"),
            std::string::npos);
  EXPECT_TRUE(may(closed, Step::OpenIter, 3, true));
  const State open = in_phase(Phase::Raced);
  EXPECT_FALSE(may(open, Step::Finalize, kAt));
  EXPECT_TRUE(may(open, Step::Finalize, kAt, true));
  EXPECT_FALSE(may(in_phase(Phase::Finalized), Step::Finalize, kAt, true));
  EXPECT_FALSE(may(in_phase(Phase::Finalized), Step::OpenIter, 3, true));
}

TEST(Phases, NextStepsCanBePasted) {
  EXPECT_EQ(next_step(in_phase(Phase::Ready)),
            "kernelwright optimize open-iter --run-dir '/runs/a run' --iter 1");
  EXPECT_EQ(next_step(in_phase(Phase::Closed)),
            "kernelwright optimize open-iter --run-dir '/runs/a run' --iter 3");
  State last = in_phase(Phase::Closed);
  last.settings.iterations = 2;
  EXPECT_EQ(next_step(last), "kernelwright optimize finalize --run-dir '/runs/a run'");
}

}  // namespace
}  // namespace kw::optimize
