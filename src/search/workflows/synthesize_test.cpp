#include <gtest/gtest.h>

#include "core/text.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

std::string plan_text(const std::string& proposer, bool evolves) {
  SynthesizeRequest request;
  request.proposer = proposer;
  if (evolves) request.evolve.emplace();
  std::vector<std::string> names;
  for (const SessionStep& step : plan_of(request)) names.push_back(step.name);
  return join(names, ", ");
}

TEST(PlanOf, ListsTheSteps) {
  EXPECT_EQ(plan_text("builtin", false),
            "reference, same task, machine, open run, search, conclude, report");
  EXPECT_EQ(plan_text("hybrid", false),
            "reference, same task, machine, interview, open run, search, talk, certify, polish, "
            "conclude, report");
  EXPECT_EQ(plan_text("llm", false), plan_text("hybrid", false));
  EXPECT_EQ(plan_text("builtin", true),
            "reference, same task, machine, open run, evolve, certify, conclude, generalise, "
            "report");
  EXPECT_EQ(plan_text("llm", true),
            "reference, same task, machine, interview, open run, evolve, certify, conclude, "
            "generalise, report");
}

TEST(PlanOf, WritesTheReportAfterAFailureToo) {
  EXPECT_EQ(plan_of({}).back().kind, StepKind::Always);
  EXPECT_EQ(plan_of({}).front().kind, StepKind::Stage);
}

}  // namespace
}  // namespace kw::workflows
