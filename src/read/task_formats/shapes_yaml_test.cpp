#include "task_formats/shapes_yaml.h"

#include <gtest/gtest.h>

namespace kw::task_formats {
namespace {

using Shapes = std::vector<std::vector<int64_t>>;

struct YamlCase {
  const char* name;
  const char* text;
  Shapes want;        // empty: refused …
  const char* words;  // … with these words
};
class ShapesYaml : public testing::TestWithParam<YamlCase> {};

TEST_P(ShapesYaml, IsAListOfLists) {
  const YamlCase& one = GetParam();
  const auto got = parse_shapes_yaml(one.text, "shapes.yaml");
  if (!one.want.empty()) {
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(*got, one.want);
    return;
  }
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find(one.words), std::string::npos) << got.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    All, ShapesYaml,
    testing::Values(
        YamlCase{
            "usual", "- [8, 64]\n- [16, 128]\n- [4, 1024]\n", {{8, 64}, {16, 128}, {4, 1024}}, ""},
        YamlCase{"vectors", "- [128]\n- [2048]", {{128}, {2048}}, ""},
        YamlCase{"comments",
                 "---\n# shapes\n- [8,64]   # small\n\n- [ 1_6 , 128 ]\r\n",
                 {{8, 64}, {16, 128}},
                 ""},
        YamlCase{"blocks", "- - 8\n  - 64\n-\n  - 16\n  - 128\n", {{8, 64}, {16, 128}}, ""},
        YamlCase{"flow", "[[8, 64],\n [16, 128]]\n", {{8, 64}, {16, 128}}, ""},
        YamlCase{"empty", "", {}, "no shapes"},
        YamlCase{"mapping", "shapes:\n  - [1]\n", {}, "shapes.yaml:1: 'shapes:' is not an item"},
        YamlCase{"a_number", "- 8\n", {}, "'8' is not a list of extents"},
        YamlCase{"zero", "- [8, 64]\n- [0, 64]\n", {}, "shapes.yaml:2: '0' is not an extent"},
        YamlCase{"words", "- [B, D]\n", {}, "'B' is not an extent"},
        YamlCase{"no_extents", "- []\n", {}, "without extents"},
        YamlCase{"ranks",
                 "- [8]\n- [8, 64]\n",
                 {},
                 "shapes.yaml:2: all shapes must have one rank; found 1 and 2"},
        YamlCase{"open", "- [8, 64\n", {}, "not closed"},
        YamlCase{"nothing_between", "- [8,,64]\n", {}, "'' is not an extent"},
        YamlCase{"open_flow", "[[8, 64]\n", {}, "every shape is a list in brackets"},
        YamlCase{"huge", "- [99999999999999999999]\n", {}, "is not an extent"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace kw::task_formats
