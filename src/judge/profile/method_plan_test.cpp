#include "profile/method_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "profile/trigger.h"

namespace kw::profile {
namespace {

struct StrengthCase {
  const char* name;
  const char* condition;
  double ipc, barrier;  // below 0: unknown
  int matmul;           // below 0: unknown
  double want;          // below 0: unknown
};

class Strengths : public testing::TestWithParam<StrengthCase> {};

TEST_P(Strengths, FollowTheValuesAndKeepUnknownApart) {
  const StrengthCase& c = GetParam();
  MetricSet metrics;
  if (c.ipc >= 0) metrics.set("ipc", c.ipc, MetricSource::Ncu, "test");
  if (c.barrier >= 0) metrics.set("stall_barrier_pct", c.barrier, MetricSource::Ncu, "test");
  if (c.matmul >= 0) metrics.set_flag("has_matmul", c.matmul > 0, MetricSource::Static, "test");
  const Strength got = strength_of(*catalog::parse_expression(c.condition), metrics);
  EXPECT_EQ(got.value.has_value(), c.want >= 0);
  if (got.value) {
    EXPECT_NEAR(*got.value, c.want, 1e-12);
  } else {
    EXPECT_FALSE(got.missing.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Strengths,
    testing::Values(
        StrengthCase{"low_at_good", "ipc < 2 worst 1", 2, -1, -1, 0},
        StrengthCase{"low_between", "ipc < 2 worst 1", 1.25, -1, -1, 0.75},
        StrengthCase{"low_beyond", "ipc < 2 worst 1", 0.1, -1, -1, 1},
        StrengthCase{"low_fine", "ipc < 2 worst 1", 3, -1, -1, 0},
        StrengthCase{"high_between", "stall_barrier_pct > 5 worst 30", -1, 17.5, -1, 0.5},
        StrengthCase{"high_fine", "stall_barrier_pct > 5 worst 30", -1, 1, -1, 0},
        StrengthCase{"high_beyond", "stall_barrier_pct > 5 worst 30", -1, 99, -1, 1},
        StrengthCase{"unknown", "ipc < 2 worst 1", -1, -1, -1, -1},
        StrengthCase{"no_worst", "ipc < 2", 1.9, -1, -1, 1},
        StrengthCase{"no_worst_equal", "ipc < 2", 2, -1, -1, 0},
        StrengthCase{"flag", "has_matmul", -1, -1, 1, 1},
        StrengthCase{"no_flag", "not has_matmul", -1, -1, 1, 0},
        StrengthCase{"unknown_flag", "not has_matmul", -1, -1, -1, -1},
        StrengthCase{"and_takes_the_least", "ipc < 2 worst 1 and stall_barrier_pct > 5 worst 30",
                     1.5, 10, -1, 0.2},
        StrengthCase{"and_with_zero_is_zero", "ipc < 2 worst 1 and stall_barrier_pct > 5 worst 30",
                     3, -1, -1, 0},
        StrengthCase{"and_with_unknown_is_unknown",
                     "ipc < 2 worst 1 and stall_barrier_pct > 5 worst 30", 1, -1, -1, -1},
        StrengthCase{"or_takes_the_most", "ipc < 2 worst 1 or stall_barrier_pct > 5 worst 30", 1.5,
                     10, -1, 0.5},
        StrengthCase{"or_with_unknown_keeps_what_speaks",
                     "ipc < 2 worst 1 or stall_barrier_pct > 5 worst 30", 1.5, -1, -1, 0.5},
        StrengthCase{"or_with_unknown_is_not_zero",
                     "ipc < 2 worst 1 or stall_barrier_pct > 5 worst 30", 3, -1, -1, -1},
        StrengthCase{"nested", "has_matmul and (ipc < 2 worst 1 or stall_barrier_pct > 5 worst 30)",
                     1.5, -1, 1, 0.5}),
    [](const auto& c) { return c.param.name; });

/// An H200 roofline with large gaps on three axes.
Roofline open_roofline() {
  Roofline r;
  r.gaps = {0.8, 0.8, 0.8};
  r.budget = {2, 2, 2};
  r.bottleneck = Bottleneck::Mixed;
  return r;
}

MetricSet matmul_metrics() {
  MetricSet metrics;
  metrics.set_flag("has_matmul", true, MetricSource::Static, "test");
  metrics.set("tensor_pipe_pct", 5, MetricSource::Ncu, "test");
  metrics.set("ipc", 1.2, MetricSource::Ncu, "test");
  metrics.set_flag("uses_tensor_core", false, MetricSource::Static, "test");
  metrics.set("spill_bytes", 0, MetricSource::Static, "test");
  return metrics;
}

const Judged& of(const Plan& plan, const char* id) {
  const auto at =
      std::ranges::find_if(plan.methods, [&](const Judged& one) { return one.method->id == id; });
  EXPECT_NE(at, plan.methods.end()) << id;
  return *at;
}

struct Situation {
  MetricSet metrics = matmul_metrics();
  Roofline roofline = open_roofline();
  arch::Target target = *arch::find_target("sm_90a");
  PlanInput input{metrics, roofline, target, "here", {}};
  Plan plan() const { return plan_methods(catalog::methods(), input); }
};

TEST(Plans, ChooseByEvidenceWithinTheBudget) {
  const Situation s;
  const Plan plan = s.plan();
  EXPECT_EQ(of(plan, "compute.tensor_core").status, MethodStatus::Chosen);
  EXPECT_EQ(of(plan, "compute.thread_coarsening").status, MethodStatus::Chosen);
  EXPECT_EQ(of(plan, "compute.ilp_unroll_register_tile").status, MethodStatus::LowerScore);
  EXPECT_EQ(plan.chosen.size(), 2u);
  EXPECT_EQ(plan.chosen.front()->method->id, "compute.tensor_core");
  for (const Judged& judged : plan.methods) EXPECT_FALSE(judged.why.empty()) << judged.method->id;
}

TEST(Plans, AreTheSameEveryTime) {
  const Situation s;
  EXPECT_EQ(to_json(s.plan()).dump(), to_json(s.plan()).dump());
}

TEST(Plans, SayWhyHigherPrioritiesWereSkipped) {
  const Situation s;
  const Plan plan = s.plan();
  const auto higher = plan.skipped_higher(of(plan, "compute.thread_coarsening"));
  ASSERT_EQ(higher.size(), 3u)
      << "tensor_core was chosen; mixed_precision, warp_specialization and "
         "launch_config were not";
  for (const Judged* one : higher) {
    EXPECT_EQ(one->status, MethodStatus::InsufficientEvidence) << one->method->id;
    EXPECT_NE(one->why.find("not known: "), std::string::npos);
  }
}

TEST(Plans, UnknownIsNeverNoTrigger) {
  Situation s;
  s.metrics = MetricSet();
  const Plan plan = s.plan();
  EXPECT_TRUE(plan.chosen.empty());
  for (const Judged& judged : plan.methods) {
    EXPECT_NE(judged.status, MethodStatus::NoTrigger) << judged.method->id;
    EXPECT_FALSE(judged.strength) << judged.method->id;
  }
}

TEST(Plans, ABanHoldsInItsContextAlone) {
  Situation s;
  s.input.banned = {{"compute.tensor_core", "here"}, {"compute.thread_coarsening", "elsewhere"}};
  const Plan plan = s.plan();
  EXPECT_EQ(of(plan, "compute.tensor_core").status, MethodStatus::Banned);
  EXPECT_EQ(of(plan, "compute.thread_coarsening").status, MethodStatus::Chosen);
}

TEST(Plans, FingerprintsMoveWithTheBottleneck) {
  const arch::Target h200 = *arch::find_target("sm_90a"), a100 = *arch::find_target("sm_80");
  const std::string here = fingerprint("task", h200, Bottleneck::Dram);
  EXPECT_EQ(here, fingerprint("task", h200, Bottleneck::Dram));
  EXPECT_NE(here, fingerprint("task", h200, Bottleneck::Compute));
  EXPECT_NE(here, fingerprint("task", a100, Bottleneck::Dram));
  EXPECT_NE(here, fingerprint("other", h200, Bottleneck::Dram));
}

TEST(Plans, RespectTheTarget) {
  Situation s;
  s.metrics.set("spill_bytes", 128, MetricSource::Static, "test");
  EXPECT_NE(of(s.plan(), "latency.producer_regdealloc_setmaxnreg").status,
            MethodStatus::ArchIncompatible);
  s.target = *arch::find_target("sm_90");
  const Plan plan = s.plan();
  const Judged& judged = of(plan, "latency.producer_regdealloc_setmaxnreg");
  EXPECT_EQ(judged.status, MethodStatus::ArchIncompatible);
  EXPECT_EQ(judged.why, "sm_90 lacks setmaxnreg");
}

TEST(Plans, NeverChooseWhatCannotBeExpressed) {
  Situation s;
  s.metrics.set("launches", 8, MetricSource::Static, "test");
  s.metrics.set("launch_overhead_pct", 60, MetricSource::Static, "test");
  EXPECT_EQ(of(s.plan(), "latency.static_launch_grid_graph").status, MethodStatus::NotExpressible);
  s.input.expressible = catalog::Expressible::Foreign;
  EXPECT_EQ(of(s.plan(), "latency.static_launch_grid_graph").status, MethodStatus::Chosen);
  EXPECT_EQ(of(s.plan(), "latency.cuda_graphs").status, MethodStatus::NotExpressible);
}

TEST(Plans, RespectWhatTheTaskAllows) {
  Situation s;
  s.input.effect = catalog::Effect::None;
  EXPECT_EQ(of(s.plan(), "compute.tensor_core").status, MethodStatus::EffectForbidden);
}

TEST(Plans, AppliedMethodsExcludeThemselvesAndTheirOpposites) {
  Situation s;
  s.input.applied = {"compute.tensor_core", "memory.split_k_parallel_reduce",
                     "memory.epilogue_visitor_tree_fusion"};
  s.metrics.set("wave_tail_pct", 60, MetricSource::Static, "test");
  const Plan plan = s.plan();
  EXPECT_EQ(of(plan, "compute.tensor_core").status, MethodStatus::AlreadyApplied);
  EXPECT_EQ(of(plan, "latency.stream_k_load_balancing").status, MethodStatus::Conflict);
  EXPECT_EQ(of(plan, "memory.epilogue_fusion").status, MethodStatus::Superseded);
}

TEST(Plans, WhatIsNeededComesFirst) {
  Situation s;
  s.metrics = MetricSet();
  s.metrics.set_flag("has_matmul", true, MetricSource::Static, "test");
  s.metrics.set("wave_tail_pct", 60, MetricSource::Static, "test");
  EXPECT_EQ(of(s.plan(), "latency.stream_k_load_balancing").status, MethodStatus::NeedsOther);
  s.metrics.set_flag("is_persistent", false, MetricSource::Static, "test");
  const Plan plan = s.plan();
  ASSERT_EQ(plan.chosen.size(), 2u);
  EXPECT_EQ(plan.chosen[0]->method->id, "latency.persistent_kernel");
  EXPECT_EQ(plan.chosen[1]->method->id, "latency.stream_k_load_balancing");
}

TEST(Plans, TwoThatStandForEachOtherAreNotBothChosen) {
  Situation s;
  s.metrics.set("stall_long_scoreboard_pct", 60, MetricSource::Ncu, "test");
  s.metrics.set_flag("uses_shared", true, MetricSource::Static, "test");
  s.metrics.set_flag("uses_async_copy", false, MetricSource::Static, "test");
  s.metrics.set_flag("uses_tma", false, MetricSource::Static, "test");
  s.metrics.set_flag("is_elementwise", false, MetricSource::Static, "test");
  const Plan plan = s.plan();
  EXPECT_EQ(of(plan, "latency.async_pipeline").status, MethodStatus::Chosen);
  EXPECT_EQ(of(plan, "memory.async_copy").status, MethodStatus::Superseded);
}

TEST(Plans, AnAxisWithoutBudgetGetsNothing) {
  Situation s;
  s.roofline.budget = {0, 2, 1};
  const Plan plan = s.plan();
  EXPECT_EQ(of(plan, "compute.tensor_core").status, MethodStatus::LowerScore);
  EXPECT_EQ(of(plan, "compute.tensor_core").why, "the compute axis has no budget");
}

TEST(Plans, PastFailuresLowerTheScore) {
  Situation s;
  const double before = of(s.plan(), "compute.tensor_core").score;
  s.input.past["compute.tensor_core"] = {6, 0};
  EXPECT_LT(of(s.plan(), "compute.tensor_core").score, before);
  s.input.past["compute.tensor_core"] = {6, 6};
  EXPECT_GT(of(s.plan(), "compute.tensor_core").score, before);
}

TEST(Plans, AScoreNeverPromisesMoreThanTheGap) {
  Situation s;
  s.roofline.gaps.compute = 0.2;
  EXPECT_NEAR(of(s.plan(), "compute.tensor_core").score, -std::log(0.8) * 0.5, 1e-9);
}

/// Sets metrics so that a condition holds or does not. Of alternatives it takes the `pick`-th.
void satisfy(const catalog::Expression& e, bool holds, size_t pick, MetricSet& metrics) {
  using Kind = catalog::Expression::Kind;
  const bool everything = (e.kind == Kind::And) == holds;  // all parts matter
  switch (e.kind) {
    case Kind::Flag:
      return metrics.set_flag(e.metric, holds, MetricSource::Static, "test");
    case Kind::Not:
      return satisfy(e.parts.front(), !holds, pick, metrics);
    case Kind::Below:
    case Kind::Above: {
      const double beyond = e.worst.value_or(e.kind == Kind::Below ? e.good - 1 : e.good + 1);
      return metrics.set(e.metric, holds ? beyond : e.good, MetricSource::Ncu, "test");
    }
    default:
      for (size_t i = 0; i < e.parts.size(); ++i) {
        if (everything || i == pick % e.parts.size()) satisfy(e.parts[i], holds, pick, metrics);
      }
  }
}

// A method whose trigger contradicts its skip condition could never be tried.
TEST(Plans, EveryMethodIsChosenInSomeSituation) {
  for (const catalog::Method& method : catalog::methods()) {
    MethodStatus status = MethodStatus::NoTrigger;
    std::string why;
    for (size_t pick = 0; pick < 4 && status != MethodStatus::Chosen; ++pick) {
      MetricSet metrics;
      satisfy(*method.trigger, true, pick, metrics);
      const arch::Target target = *arch::find_target(arch::targets_with(method.features).back());
      const Roofline open = open_roofline();
      PlanInput input{metrics, open, target, "here", method.needs};
      input.expressible = catalog::Expressible::No;
      const Plan plan = plan_methods({&method, 1}, input);
      status = plan.methods.front().status;
      why = plan.methods.front().why;
    }
    const MethodStatus want = method.gain_high <= 1 ? MethodStatus::NoGain : MethodStatus::Chosen;
    EXPECT_STREQ(method_status_name(status), method_status_name(want)) << method.id << ": " << why;
  }
}

TEST(Plans, SkipConditionsAreExplained) {
  Situation s;
  s.metrics.set_flag("has_matmul", false, MetricSource::Static, "test");
  const Plan plan = s.plan();
  EXPECT_EQ(of(plan, "compute.tensor_core").status, MethodStatus::SkipCondition);
  EXPECT_EQ(of(plan, "compute.tensor_core").why, "'not has_matmul' holds: has_matmul no");
}

}  // namespace
}  // namespace kw::profile
