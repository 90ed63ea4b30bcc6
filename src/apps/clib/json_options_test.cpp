#include "clib/json_options.h"

#include <gtest/gtest.h>

namespace kw::clib {
namespace {

struct WordsCase {
  const char* name;
  const char* options;
  std::vector<std::string> words;
};

class Words : public testing::TestWithParam<WordsCase> {};

TEST_P(Words, AreWhatAPersonWouldType) {
  const Json options = Json::parse(GetParam().options).value();
  const auto words = command_line_of(*options::find_command("synthesize"), options);
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_EQ(*words, GetParam().words);
}

const WordsCase kWordsCases[] = {
    {"nothing", "{}", {}},
    {"text", R"({"prompt": "a b=c\nd"})", {"--prompt=a b=c\nd"}},
    {"numbers", R"({"candidates": 3, "goal": 0.25})", {"--candidates=3", "--goal=0.25"}},
    {"underscores", R"({"cross_check": "never"})", {"--cross-check=never"}},
    {"flags", R"({"quick": true})", {"--quick"}},
    {"left_out", R"({"quick": false, "seed": null, "prompt": "", "input": []})", {}},
    {"pairs", R"({"dim": {"B": 4, "D": 8}})", {"--dim=B=4", "--dim=D=8"}},
    {"several", R"({"input": ["x:fp16[B]", "e=1"]})", {"--input=x:fp16[B]", "--input=e=1"}},
    {"joined_where_one_is_taken",
     R"({"versus": ["eager", "compile"]})",
     {"--versus=eager,compile"}},
    {"arguments_last", R"({"arguments": ["--x"], "seed": 1})", {"--seed=1", "--", "--x"}},
};
INSTANTIATE_TEST_SUITE_P(All, Words, testing::ValuesIn(kWordsCases),
                         [](const auto& one) { return std::string(one.param.name); });

class NoWords : public testing::TestWithParam<const char*> {};

TEST_P(NoWords, AreRefused) {
  const auto words =
      command_line_of(*options::find_command("synthesize"), Json::parse(GetParam()).value());
  ASSERT_FALSE(words);
  EXPECT_EQ(words.error().blame, Blame::Input);
}

INSTANTIATE_TEST_SUITE_P(All, NoWords,
                         testing::Values("[]", "3", R"({"seed": [[1]]})", R"({"dim": {"B": {}}})",
                                         R"({"arguments": [true]})"));

}  // namespace
}  // namespace kw::clib
