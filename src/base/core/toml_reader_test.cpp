#include "core/toml_reader.h"

#include <gtest/gtest.h>

#include "core/text.h"

namespace kw {
namespace {

enum class Colour : uint8_t { Red, Green };
constexpr const char* kColourWords[] = {"red", "green"};

struct Wheel {
  int64_t spokes = 0;
};
void fields(auto& v, Wheel& w) { v("spokes", w.spokes, required); }

struct Bicycle {
  std::string name;
  Colour colour = Colour::Red;
  int gears = 3;
  double kilos = 12;
  bool light = false;
  std::optional<double> price;
  std::vector<std::string> owners;
  std::vector<Wheel> wheels;
  std::vector<std::pair<std::string, std::string>> labels;
};
void fields(auto& v, Bicycle& b) {
  v("name", b.name, required)("colour", b.colour, kColourWords)("gears", b.gears, Within{1, 30});
  v("kilos", b.kilos, finite)("light", b.light)("price", b.price, Within{0});
  v("owners", b.owners)("wheels", b.wheels)("labels", b.labels);
  v("wheel_count", computed(b.wheels.size()));
}

/// The problems of a text, one per line.
std::string complaint(const std::string& text, TomlReader::Strings strings = {}) {
  const auto root = parse_toml(text, "b.toml");
  if (!root) return root.error().message;
  const std::string file = "b.toml";
  TomlReader reader(file, *root, strings, "[bicycle]");
  Bicycle bicycle;
  fields(reader, bicycle);
  return join(reader.finish(), "\n");
}

TEST(TomlReader, ReadsEveryKindOfMember) {
  const auto root = parse_toml(
      "name = 'a'\ncolour = 'green'\ngears = 7\nkilos = 9\nlight = true\nprice = 1.5\n"
      "owners = ['x', 'y']\nwheels = [{spokes = 32}, {spokes = 36}]\nlabels = {p = 'q'}\n",
      "b.toml");
  ASSERT_TRUE(root) << root.error().message;
  Bicycle b;
  const auto read = read_toml("b.toml", *root, b);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(b.name, "a");
  EXPECT_EQ(b.colour, Colour::Green);
  EXPECT_EQ(b.gears, 7);
  EXPECT_EQ(b.kilos, 9);
  EXPECT_TRUE(b.light);
  EXPECT_EQ(b.price, 1.5);
  EXPECT_EQ(join(b.owners, " "), "x y");
  ASSERT_EQ(b.wheels.size(), 2u);
  EXPECT_EQ(b.wheels[1].spokes, 36);
  ASSERT_EQ(b.labels.size(), 1u);
  EXPECT_EQ(b.labels[0].second, "q");
}

TEST(TomlReader, WhatIsMissingKeepsItsValue) { EXPECT_EQ(complaint("name = 'a'\n"), ""); }

struct Refusal {
  const char* name;
  const char* text;
  const char* want;
};
class TomlRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(TomlRefusals, NameThePlace) {
  EXPECT_EQ(complaint(std::string("name = 'a'\n") + GetParam().text), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    All, TomlRefusals,
    testing::Values(
        Refusal{"unknown", "gear = 1",
                "b.toml:2:1: unknown key 'gear' in [bicycle] (did you mean 'gears'?); known are: "
                "name, colour, gears, kilos, light, price, owners, wheels, labels"},
        Refusal{"syntax", "gears =\n",
                "b.toml:2:8: Error while parsing key-value pair: expected value, saw '\\n'"},
        Refusal{"string", "owners = [1]", "b.toml:2:11: 'owners' must be a string"},
        Refusal{"list", "owners = 'x'", "b.toml:2:10: 'owners' must be a list"},
        Refusal{"twice", "owners = ['x', 'x']", "b.toml:2:16: 'owners' has 'x' twice"},
        Refusal{"whole", "gears = 1.5", "b.toml:2:9: 'gears' must be a whole number"},
        Refusal{"range", "gears = 31", "b.toml:2:9: 'gears' must be from 1 to 30"},
        Refusal{"number", "kilos = 'x'", "b.toml:2:9: 'kilos' must be a number"},
        Refusal{"infinite", "kilos = inf", "b.toml:2:9: 'kilos' must be a finite number"},
        Refusal{"not_a_number", "price = nan", "b.toml:2:9: 'price' must be 0 or more"},
        Refusal{"flag", "light = 1", "b.toml:2:9: 'light' must be true or false"},
        Refusal{"word", "colour = 'rad'",
                "b.toml:2:10: 'colour' must be one of red, green, not 'rad' (did you mean "
                "'red'?)"},
        Refusal{"table", "wheels = [1]", "b.toml:2:11: 'wheels' must be a table"},
        Refusal{"inner", "wheels = [{}]", "b.toml:2:11: 'spokes' is missing"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(TomlReader, UnknownKeysComeFirst) {
  EXPECT_EQ(complaint("gears = 0\ncolour = 1\nx = 2\n").substr(0, 25), "b.toml:3:1: unknown key '");
  EXPECT_EQ(split_lines(complaint("gears = 0\ncolour = 1\nx = 2\n")).size(), 4u);
}

TEST(TomlReader, StringsHaveTheFormThatIsAskedFor) {
  using Strings = TomlReader::Strings;
  EXPECT_EQ(complaint("name = \"a\\nb\"\n"), "");
  EXPECT_EQ(complaint("name = \"a\\nb\"\n", Strings::OneLine),
            "b.toml:1:8: 'name' must be a string of one line");
  EXPECT_EQ(complaint("name = ' '\n", Strings::NotBlank), "b.toml:1:8: 'name' must be a string");
}

}  // namespace
}  // namespace kw
