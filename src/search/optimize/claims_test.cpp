#include "optimize/claims.h"

#include <gtest/gtest.h>

#include "core/text.h"
#include "optimize/test_run.h"

namespace kw::optimize {
namespace {

struct BadClaims {
  const char* text;
  const char* says;
};
class Forms : public testing::TestWithParam<BadClaims> {};

TEST_P(Forms, AreChecked) {
  const Claims claims = read_claims(GetParam().text, 2);
  EXPECT_NE(claims_text(claims).find(GetParam().says), std::string::npos) << claims_text(claims);
  EXPECT_FALSE(claims.errors.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, Forms,
    testing::Values(BadClaims{"{", "it is not JSON"}, BadClaims{"[]", "it must be an object"},
                    BadClaims{"{}", "iter is missing"}, BadClaims{"{}", "methods is missing"},
                    BadClaims{R"({"iter": 2, "methods": {}})", "methods must be of type array"},
                    BadClaims{R"({"iter": "2", "methods": []})", "iter must be of type integer"},
                    BadClaims{R"({"iter": 1, "methods": []})",
                              "iter is 1, and iteration 2 is open"},
                    BadClaims{R"({"iter": 2, "methods": [7]})", "methods[0] must be an object"},
                    BadClaims{R"({"iter": 2, "methods": [{}]})", "methods[0].id is missing"},
                    BadClaims{R"({"iter": 2, "methods": [{"id": "memory.magic"}]})",
                              "there is no method 'memory.magic'"},
                    BadClaims{R"({"iter": 2, "methods": [{"id": "vectorized_access"}]})",
                              "there is no method 'vectorized_access'"},
                    BadClaims{R"({"iter": 2, "methods": [{"id": "memory.vectorized_access",
                                              "axis": "compute"}]})",
                              "memory.vectorized_access is on the memory axis, not on 'compute'"},
                    BadClaims{R"({"iter": 2, "methods": [{"id": "memory.vectorized_access",
                                              "priority": 1}]})",
                              "memory.vectorized_access has priority 4, not 1"},
                    BadClaims{R"({"iter": 2, "methods": [{"id": "memory.vectorized_access"},
                                             {"id": "memory.vectorized_access"}]})",
                              "methods[1].id: memory.vectorized_access is claimed twice"},
                    BadClaims{R"({"iter": 2, "methods": [{"id": "memory.vectorized_access",
                                              "skiped_higher": []}]})",
                              "skiped_higher is unknown (did you mean 'skipped_higher'?)"},
                    BadClaims{R"({"iter": 2, "methods": [{"id": "memory.vectorized_access",
                      "skipped_higher": [{"id": "memory.tiling_smen"}]}]})",
                              "did you mean 'memory.tiling_smem'?"},
                    BadClaims{R"({"iter": 2, "methods": [{"id": "memory.vectorized_access",
                      "skipped_higher": [{"id": "memory.tiling_smem"}]}]})",
                              "skipped_higher[0].reason is missing"},
                    BadClaims{R"({"iter": 2, "methods": [{"id": "memory.vectorized_access",
                      "skipped_higher": ["memory.tiling_smem"]}]})",
                              "skipped_higher[0] must be an object"},
                    BadClaims{R"({"iter": 2, "methods": [1, 2, 3, 4, 5, 6, 7]})",
                              "7 methods are claimed; at most 6 are allowed"}));

TEST(Forms, NotesOfOnesOwnAreWelcome) {
  const Claims claims = read_claims(
      R"({"iter": 2, "author": "me", "methods": [{"id": "memory.vectorized_access", "axis": "memory",
          "name": "wide", "priority": 4, "description": "four at once", "trigger_strength": 0.5,
          "ncu_evidence": [{"metric": "ipc", "value": 1, "unit": ""}], "confidence": 3}]})",
      2);
  EXPECT_TRUE(claims.ok()) << claims_text(claims);
  EXPECT_EQ(claims.ids, std::vector<std::string>{"memory.vectorized_access"});
}

TEST(Forms, EveryFieldIsInTheTable) {
  for (const FieldRow& row : method_fields()) {
    EXPECT_FALSE(std::string(row.meaning).empty());
    EXPECT_TRUE(std::string("integer string number array").find(row.type) != std::string::npos);
  }
}

/// A kernel with narrow, strided loads and idle SMs.
class Gate : public TestRun {
 protected:
  Gate() {
    baseline_ = {"us 100",
                 "sass LDG.E",
                 "metric launches 1",
                 "metric load_efficiency_pct 30",
                 "metric store_efficiency_pct 100",
                 "metric uses_shared 0",
                 "metric load_bytes_per_thread 4",
                 "metric store_bytes_per_thread 4",
                 "metric has_matmul 0",
                 "metric has_reduction 0",
                 "metric is_elementwise 1",
                 "metric traffic_ratio 3"};
  }

  /// The plan's own methods.json, changed by a test.
  Json proposal() {
    Json plan = folder_->read_json("iterv1/plan.json").value();
    return Json::object().set("iter", 1).set("methods", plan["methods"]);
  }

  std::string check(const Json& document) {
    write(folder_->at("iterv1/methods.json"), document.dump());
    const Result<Outcome> outcome = validate_methods(*folder_, 1);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome->ok ? "" : outcome->text;
  }

  Json one(const std::string& id, Json skipped = Json::array()) {
    return Json::object().set("iter", 1).set(
        "methods",
        Json::array().push(Json::object().set("id", id).set("skipped_higher", std::move(skipped))));
  }
};

TEST_F(Gate, ThePlansOwnChoicePasses) {
  open_first();
  const Json document = proposal();
  ASSERT_FALSE(document["methods"].items().empty());
  EXPECT_EQ(document["methods"].items()[0]["id"].as_string(), "memory.coalesced_access");
  EXPECT_EQ(check(document), "");
}

TEST_F(Gate, LessThanThePlanPasses) {
  open_first();
  EXPECT_EQ(check(Json::object().set("iter", 1).set("methods", Json::array())), "");
}

TEST_F(Gate, HigherOnesMustBeMentioned) {
  open_first();
  const std::string text = check(one(kWide));
  EXPECT_NE(text.find("memory.coalesced_access (P2) comes before"), std::string::npos) << text;
  EXPECT_NE(text.find("it should be tried"), std::string::npos) << text;
  EXPECT_NE(text.find("memory.kernel_fusion (P1) comes before"), std::string::npos) << text;
  EXPECT_NE(text.find("the reason is skip_condition"), std::string::npos) << text;
}

TEST_F(Gate, ReasonsMustBeTrue) {
  open_first();
  const auto with = [&](const char* reason, const char* why) {
    Json skipped = Json::array();
    skipped.push(
        Json::object().set("id", "memory.coalesced_access").set("reason", reason).set("why", why));
    return check(one(kWide, std::move(skipped)));
  };
  EXPECT_NE(with("no_trigger", "").find("no_trigger is not why it was left out"),
            std::string::npos);
  EXPECT_NE(with("lazy", "").find("'lazy' is not a reason"), std::string::npos);
  EXPECT_NE(with("cannot_apply", "no").find("needs a 'why' in words"), std::string::npos);
  EXPECT_EQ(with("cannot_apply", "the layout of x is given").find("coalesced"), std::string::npos);
}

TEST_F(Gate, WordsOfOtherWritingsAreRead) {
  open_first();
  const Json skipped = Json::array().push(Json::object()
                                              .set("id", "compute.block_scaled_precision")
                                              .set("reason", "feature_unavailable"));
  const std::string text = check(one("compute.tf32_emulation_3xtf32_bf16x6", skipped));
  EXPECT_EQ(text.find("block_scaled_precision"), std::string::npos) << text;
}

TEST_F(Gate, OverTheBudgetIsRefused) {
  open_first();
  Json methods = Json::array();
  for (const char* id :
       {"memory.coalesced_access", "memory.vectorized_access", "memory.tiling_smem"})
    methods.push(Json::object().set("id", id));
  const std::string text = check(Json::object().set("iter", 1).set("methods", methods));
  EXPECT_NE(text.find("3 methods on the memory axis; its budget is 2"), std::string::npos) << text;
}

TEST_F(Gate, WhatTheTargetLacksIsRefused) {
  tools_.facts.target = "sm_80";
  open_first();
  EXPECT_NE(check(one("memory.tma_multicast")).find("sm_80 lacks"), std::string::npos);
}

TEST_F(Gate, WhatCannotBeWrittenIsRefused) {
  open_first();
  EXPECT_NE(check(one("memory.l2_persistence_window")).find("not_expressible"), std::string::npos);
}

TEST_F(Gate, RelationsAreChecked) {
  open_first();
  const catalog::Method* conflicting = nullptr;
  const catalog::Method* needy = nullptr;
  for (const catalog::Method& method : catalog::methods()) {
    if (!method.conflicts.empty()) conflicting = &method;
    if (!method.needs.empty()) needy = &method;
  }
  ASSERT_TRUE(conflicting != nullptr && needy != nullptr);
  Json methods = Json::array();
  methods.push(Json::object().set("id", conflicting->id));
  methods.push(Json::object().set("id", conflicting->conflicts.front()));
  const std::string text = check(Json::object().set("iter", 1).set("methods", methods));
  EXPECT_NE(text.find("exclude each other"), std::string::npos) << text;
  EXPECT_NE(check(one(needy->id)).find("needs " + needy->needs.front() + " first"),
            std::string::npos);
}

TEST_F(Gate, WhatFailedHereIsNotTriedAgainUntilTheBottleneckMoves) {
  open_first();
  claim({"memory.coalesced_access"});
  std::vector<std::string> same = baseline_;
  same.emplace_back("us 99.9");
  put_branch("b1",
             fake_kernel(same, "//! method  memory.coalesced_access when VEC > 1, off VEC=1\n"));
  ASSERT_TRUE(close());
  ASSERT_EQ(ids_in(reopen().state.implementation_failed), "memory.coalesced_access")
      << "the switch changes no instruction";
  ASSERT_TRUE(open_iter(*folder_, 2, false));
  const auto ban = [&] {
    write(folder_->at("iterv2/methods.json"), one("memory.coalesced_access").set("iter", 2).dump());
    return validate_methods(*folder_, 2).value().text;
  };
  EXPECT_NE(ban().find("(banned)"), std::string::npos) << ban();
  // The same evidence with another bottleneck.
  Json roofline = folder_->read_json("baseline/roofline.json").value();
  ASSERT_TRUE(
      folder_->write_stamped("baseline/roofline.json", roofline.set("bound", "latency").dump()));
  EXPECT_EQ(ban().find("(banned)"), std::string::npos) << ban();
}

}  // namespace
}  // namespace kw::optimize
