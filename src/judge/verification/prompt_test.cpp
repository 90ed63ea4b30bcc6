#include "reference/prompt.h"

#include <gtest/gtest.h>

#include "core/text.h"
#include "gate/fakes.h"

namespace kw::verification {
namespace {

struct ReadCase {
  const char* name;
  const char* prompt;
  const char* understood;  // kind:value, separated by blanks
  const char* unused;      // separated by "; "
};
class Reads : public testing::TestWithParam<ReadCase> {};

TEST_P(Reads, ByTheTable) {
  const reference::PromptReading reading =
      reference::read_prompt(GetParam().prompt, {"rms", "norm", "rmsnorm"});
  std::vector<std::string> found;
  for (const reference::Phrase& phrase : reading.phrases)
    found.push_back(std::string(reference::phrase_kind_name(phrase.kind)) + ":" + phrase.value);
  EXPECT_EQ(join(found, " "), GetParam().understood);
  EXPECT_EQ(join(reading.unused, "; "), GetParam().unused);
}

INSTANTIATE_TEST_SUITE_P(
    All, Reads,
    testing::Values(
        ReadCase{"empty", "", "", ""},
        ReadCase{"usual",
                 "Write a fast fp16 RMSNorm kernel over the last dimension, without gamma.",
                 "dtype:fp16 name:rmsnorm axis:-1 weight:no", ""},
        ReadCase{"words", "half precision, per row, low latency on an H100",
                 "dtype:fp16 axis:-1 priority:latency arch:sm_90", ""},
        ReadCase{"numbers", "softmax with dim=-1 at 4096x1024 for sm_80",
                 "axis:-1 shape:4096x1024 arch:sm_80", "softmax"},
        ReadCase{"balanced", "balanced across shapes", "priority:balanced", "shapes"},
        ReadCase{"axis_number", "sum along axis 1", "axis:1", "sum"},
        ReadCase{"longest_wins", "double precision", "dtype:fp64", ""},
        ReadCase{"case", "BF16 Throughput AFFINE", "dtype:bf16 priority:throughput weight:yes", ""},
        ReadCase{"unknown", "must rhyme, in fp32, and taste of strawberries", "dtype:fp32",
                 "must rhyme; taste; strawberries"},
        ReadCase{"lone_axis", "dim", "", "dim"},
        ReadCase{"precision", "deterministic, tf32 is fine",
                 "precision:deterministic precision:tf32", "fine"},
        ReadCase{"bytes", "\xff\xfe=\x01 x", "", "\xff\xfe; x"}),
    [](const auto& one) { return one.param.name; });

TEST(Prompt, IsHeldAgainstTheReference) {
  reference::PromptReading reading = reference::read_prompt("fp16 over the last dim with gamma");
  const std::vector<std::string> wrong = reference::check_prompt(reading, gate::fake_task());
  EXPECT_EQ(wrong.size(), 3u) << "the task is fp32, reduces nothing and has no weights";
  EXPECT_NE(wrong[0].find("x is fp32"), std::string::npos) << wrong[0];
  reference::PromptReading right = reference::read_prompt("fp32 without gamma");
  EXPECT_TRUE(reference::check_prompt(right, gate::fake_task()).empty());
  EXPECT_EQ(right.phrases[0].effect, "agrees with the reference");
}

TEST(Prompt, DescribesInputsNobodyDescribed) {
  const std::string message = "r.py: the inputs of f() are not known: x, gamma\n  hint: …";
  reference::PromptReading reading = reference::read_prompt("an fp16 thing");
  EXPECT_EQ(join(reference::inputs_from_prompt(reading, message), " "),
            "x:fp16[B,D] gamma:fp16[D]");
  EXPECT_NE(reading.phrases[0].effect.find("x:fp16[B,D]"), std::string::npos);
  reference::PromptReading silent = reference::read_prompt("a thing");
  EXPECT_TRUE(reference::inputs_from_prompt(silent, message).empty());
  EXPECT_TRUE(reference::inputs_from_prompt(reading, "another problem").empty());
}

}  // namespace
}  // namespace kw::verification
