#include "stages/spec.h"

#include <gtest/gtest.h>

#include "stages/interview.h"
#include "stages/stage_plan.h"

namespace kw::stages {
namespace {

KernelSpec rms_norm_spec() {
  KernelSpec spec;
  spec.name = "rms_norm";
  spec.target_arch = "sm_90";
  spec.inputs = {{"x", "fp16", {"B", "D"}, "row_major"}};
  spec.outputs = {{"y", "fp16", {"B", "D"}, "row_major"}};
  spec.rtol = 1e-3;
  spec.notes = "rows";
  return spec;
}

TEST(KernelSpec, ComesBackFromItsJson) {
  const Json json = to_json(rms_norm_spec());
  EXPECT_EQ(json["schema"].as_string(), kSpecSchema);
  EXPECT_EQ(json["hash"].as_string().size(), 32u);
  const Result<KernelSpec> again = spec_from_json(*Json::parse(json.dump()));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again).dump(), json.dump());
}

TEST(KernelSpec, IsFrozen) {
  Json json = to_json(rms_norm_spec());
  json.set("name", "layer_norm");
  const Result<KernelSpec> changed = spec_from_json(json);
  ASSERT_FALSE(changed);
  EXPECT_NE(changed.error().message.find("its hash"), std::string::npos);
}

struct SpecRow {
  const char* name;
  const char* json;
  const char* layout;    // of the input; nullptr: refused …
  const char* expected;  // … with this message; otherwise the priority
};

class ReadSpec : public testing::TestWithParam<SpecRow> {};

TEST_P(ReadSpec, NormalisesOrRefuses) {
  const SpecRow& row = GetParam();
  const Result<KernelSpec> spec = spec_from_json(*Json::parse(row.json));
  if (row.layout == nullptr) {
    ASSERT_FALSE(spec);
    EXPECT_NE(spec.error().message.find(row.expected), std::string::npos) << spec.error().message;
    return;
  }
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->inputs.at(0).layout_hint, row.layout);
  EXPECT_EQ(spec->optimization_priority, row.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ReadSpec,
    testing::Values(
        SpecRow{
            "contiguous",
            R"({"name":"k","inputs":[{"name":"x","dtype":"fp32","shape":["N"],"layout_hint":"contiguous"}]})",
            "row_major", "balanced"},
        SpecRow{
            "row_major_with_a_dash",
            R"({"name":"k","optimization_priority":"Latency","inputs":[{"name":"x","dtype":"fp32","shape":[4],"layout_hint":"Row-Major"}]})",
            "row_major", "latency"},
        SpecRow{
            "column_major",
            R"({"name":"k","inputs":[{"name":"x","dtype":"bf16","shape":["N"],"layout_hint":"col-major"}]})",
            "col_major", "balanced"},
        SpecRow{"no_layout", R"({"name":"k","inputs":[{"name":"x","dtype":"int64","shape":[]}]})",
                "any", "balanced"},
        SpecRow{"unknown_dtype",
                R"({"name":"k","inputs":[{"name":"x","dtype":"fp17","shape":[]}]})", nullptr,
                "unknown dtype 'fp17'"},
        SpecRow{"unknown_priority", R"({"name":"k","optimization_priority":"speed"})", nullptr,
                "latency, throughput, balanced"},
        SpecRow{"no_name", R"({"inputs":[]})", nullptr, "no name"},
        SpecRow{"a_list", "[]", nullptr, "JSON object"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ReadInterview, TakesFencedAndBareJson) {
  for (const char* reply :
       {"```json\n{\"inputs\": [\"x:fp16[B,D]\"], \"optimization_priority\": \"latency\"}\n```",
        "{\"inputs\": [\"x:fp16[B,D]\"], \"optimization_priority\": \"LATENCY\"}"}) {
    const Result<Interview> answers = read_interview(reply);
    ASSERT_TRUE(answers) << answers.error().message;
    EXPECT_EQ(answers->inputs, std::vector<std::string>{"x:fp16[B,D]"});
    EXPECT_EQ(answers->priority, "latency");
  }
  for (const char* reply : {"x is fp16, I think", "```json\n{\"inputs\": [}\n```", "",
                            "{\"optimization_priority\": \"speed\"}"})
    EXPECT_FALSE(read_interview(reply)) << reply;
}

TEST(PlanDefaults, AreOneThreeThreeThreeOne) {
  const llm::Config config = llm::parse_config("", "").value();
  const ModelPlan plan = make_plan({}, config).value();
  EXPECT_EQ(plan.budgets, (std::array<int, 5>{1, 3, 3, 3, 1}));
  EXPECT_FALSE(plan.escalate);
  EXPECT_EQ(plan.escalated_codegen, 1);
  EXPECT_EQ(plan.escalated_performance, 1);
  EXPECT_EQ(plan.escalation.text(), "anthropic:claude-opus-4-7");
  for (const Stage stage : kAllStages)
    EXPECT_EQ(plan.model(stage).text(), "anthropic:claude-sonnet-4-6");
}

TEST(PlanWords, AreOverTheDefaults) {
  const llm::Config config = llm::parse_config("", "").value();
  PlanWords words;
  words.model_id = "openai:gpt-4.1";
  words.stage_models = {"polish=gemini:gemini-2.5-pro", "codegen=claude-opus-4-7"};
  words.retries = {"performance=0", "correctness=7", "escalated_codegen=2",
                   "escalated_performance=0"};
  const ModelPlan plan = make_plan(words, config).value();
  EXPECT_EQ(plan.model(Stage::Interview).text(), "openai:gpt-4.1");
  EXPECT_EQ(plan.model(Stage::Polish).text(), "gemini:gemini-2.5-pro");
  EXPECT_EQ(plan.model(Stage::Codegen).text(), "anthropic:claude-opus-4-7");
  EXPECT_EQ(plan.budgets, (std::array<int, 5>{1, 3, 7, 0, 1}));
  EXPECT_EQ(plan.escalated_codegen, 2);
  EXPECT_EQ(plan.escalated_performance, 0);
  const std::pair<PlanWords, const char*> bad[] = {
      {{"", "", {"codgen=x"}, {}, false}, "did you mean 'codegen'"},
      {{"", "", {"codegen"}, {}, false}, "STAGE=VALUE"},
      {{"", "", {}, {"polish=-1"}, false}, "from 0 to"},
      {{"", "", {}, {"polish=x"}, false}, "from 0 to"},
      {{"", "", {}, {"escalated_codegen"}, false}, "from 0 to"},
      {{"nobody:x", "", {}, {}, false}, "unknown provider 'nobody'"},
  };
  for (const auto& [wrong, want] : bad) {
    const Result<ModelPlan> made = make_plan(wrong, config);
    ASSERT_FALSE(made) << want;
    EXPECT_NE(made.error().message.find(want), std::string::npos) << made.error().message;
  }
}

}  // namespace
}  // namespace kw::stages
