#include "record/verdict.h"

#include <gtest/gtest.h>

namespace kw::record {

TEST(Verdict, JsonOfEachKindHasItsFields) {
  Rejected rejected{Stage::VirtualGpu, "a race", Finding{}, "kernelwright verify k.cu"};
  Json json = to_json(Verdict(rejected));
  EXPECT_EQ(json["verdict"].as_string(), "rejected");
  EXPECT_EQ(json["stage"].as_string(), "vgpu");
  EXPECT_TRUE(json["finding"].is_object());
  EXPECT_EQ(json["repro"].as_string(), "kernelwright verify k.cu");

  json = to_json(Verdict(Crashed{"hung", Cell{"B=1", "normal", 3, false}, "again"}));
  EXPECT_EQ(json["verdict"].as_string(), "crashed");
  EXPECT_EQ(json["cell"]["seed"].as_int(), 3);

  Wrong wrong;
  wrong.reason = "y[3]: got 1, expected 2";
  wrong.summary.worst = Worst{"y", {3}, 1, 2, 0.1, 10, 5, ""};
  json = to_json(Verdict(wrong));
  EXPECT_EQ(json["verdict"].as_string(), "wrong");
  EXPECT_EQ(json["error"]["worst"]["index"].items()[0].as_int(), 3);

  json = to_json(Verdict(Passed{{}, 12, true}));
  EXPECT_TRUE(json["deterministic"].as_bool());
  EXPECT_EQ(json["cells"].as_int(), 12);
  EXPECT_TRUE(to_json(Verdict(Passed{{}, 12, {}}))["deterministic"].is_null());

  json = to_json(Verdict(Unknown{"no GPU"}));
  EXPECT_EQ(json["missing_evidence"].as_string(), "no GPU");
}

TEST(Verdict, OnlyPassedIsAPass) {
  EXPECT_TRUE(passed(Passed{}));
  EXPECT_FALSE(passed(Unknown{}));
  EXPECT_FALSE(passed(Wrong{}));
  EXPECT_FALSE(passed(Rejected{}));
  EXPECT_FALSE(passed(Crashed{}));
}

TEST(Verdict, SeedsOfCertifiedCellsAreNotShown) {
  EXPECT_TRUE(to_json(Cell{"B=1", "normal", 99, true})["seed"].is_null());
  EXPECT_EQ(to_json(Cell{"B=1", "normal", 99, false})["seed"].as_int(), 99);
}

TEST(Verdict, EveryStageHasAName) {
  for (int i = 0; i <= static_cast<int>(Stage::Timing); ++i)
    EXPECT_STRNE(stage_name(static_cast<Stage>(i)), "");
  EXPECT_STREQ(stage_name(Stage::Timing), "timing");
}

}  // namespace kw::record
