#include "frontend/syntax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "core/text.h"
#include "os/files.h"
#include "os/process.h"
#include "os/scratch.h"

namespace kw::frontend {
namespace {

TEST(Syntax, GivesKindsPlacesAndConstants) {
  const auto source = parse_python("x = 1\ny = f(x, k=2.5)  # ä\n", "folder/a.py");
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->name, "a.py");
  const Json::Array& body = (*source)->tree["body"].items();
  ASSERT_EQ(body.size(), 2U);
  EXPECT_EQ(body[0]["value"]["value"].as_int(), 1);
  const Json& call = body[1]["value"];
  EXPECT_EQ(call["_"].as_string(), "Call");
  EXPECT_EQ(line_of(call), 2);
  EXPECT_EQ(column_of(call), 5);
  EXPECT_EQ(text_of(**source, call), "f(x, k=2.5)");
  EXPECT_EQ(call["keywords"].items()[0]["value"]["value"].as_double(), 2.5);
}

TEST(Syntax, NeverRunsTheFile) {
  const std::string marker = testing::TempDir() + "kw_syntax_ran";
  const auto source = parse_python("open('" + marker + "', 'w').write('x')\n", "a.py");
  EXPECT_TRUE(source);
  EXPECT_FALSE(os::exists(marker));
}

struct BadText {
  const char* name;
  std::string text;
  const char* begins;
};

class BadSyntax : public testing::TestWithParam<BadText> {};

TEST_P(BadSyntax, HasAPlace) {
  const auto source = parse_python(GetParam().text, "a.py");
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().blame, Blame::Input);
  EXPECT_EQ(source.error().message.substr(0, std::string(GetParam().begins).size()),
            GetParam().begins);
}

std::string repeated(const std::string& piece, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += piece;
  return text;
}

const BadText kBadTexts[] = {
    {"colon", "def f()\n    pass\n", "a.py:1:8: error: Python's parser: expected ':'"},
    {"zero_byte", std::string("x = 1\0", 6), "a.py is not Python source"},
    {"not_utf8", "x = '\xff'\n", "a.py:1:"},
    {"deep_parentheses", repeated("(", 3000), "a.py:1:"},
    {"deep_sum", "x = " + repeated("a + ", 2000) + "a\n", "a.py:1:"},
    {"deep_lists", repeated("[", 150) + repeated("]", 150) + "\n", "a.py:1:"},
    {"huge", repeated("x = 1\n", 200000), "a.py has 1.1 MiB; a reference has at most 1.0 MiB"},
};
INSTANTIATE_TEST_SUITE_P(All, BadSyntax, testing::ValuesIn(kBadTexts),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Syntax, WithoutPythonSaysWhatToInstall) {
  const std::string path = os::env("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const auto source = parse_python("x = 1\n", "a.py");
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().blame, Blame::Environment);
  EXPECT_NE(source.error().message.find("install Python 3.9 or later"), std::string::npos);
}

/// A python3 program in its own folder that counts its calls.
class SyntaxThroughAProgram : public testing::Test {
 protected:
  void SetUp() override {
    const auto real = os::run_process({"python3", "-I", "-c", "import sys; print(sys.executable)"});
    ASSERT_TRUE(real);
    interpreter_ = trim(real->out);
    auto scratch = os::ScratchFolder::make("syntax");
    ASSERT_TRUE(scratch);
    scratch_ = std::move(scratch).value();
    folder_ = scratch_->path();
    std::filesystem::create_symlink(interpreter_, folder_ + "/behind");
    ASSERT_TRUE(os::write_file(
        folder_ + "/python3", "#!/bin/sh\necho asked >> '" + folder_ + "/asked'\n[ -e '" + folder_ +
                                  "/behind' ] && exec '" + folder_ + "/behind' \"$@\"\nexec '" +
                                  interpreter_ + "' \"$@\"\n"));
    std::filesystem::permissions(folder_ + "/python3", std::filesystem::perms::owner_all);
    ::setenv("PATH", (folder_ + ":" + path_).c_str(), 1);
  }
  void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }
  int64_t asked() const {
    const auto text = os::read_file(folder_ + "/asked");
    return text ? std::ranges::count(*text, '\n') : 0;
  }
  std::optional<os::ScratchFolder> scratch_;
  std::string folder_, interpreter_;
  const std::string path_ = os::env("PATH");
};

TEST_F(SyntaxThroughAProgram, ItIsAskedOnce) {
  for (const char* text : {"a = 1\n", "b = 2\n", "a = 1\n", "c = (\n", "d = 4\n"})
    EXPECT_EQ(parse_python(text, "a.py").has_value(), std::string(text) != "c = (\n");
  EXPECT_EQ(asked(), 1);
}

TEST_F(SyntaxThroughAProgram, ItIsAskedAgainWhenItsInterpreterFails) {
  EXPECT_TRUE(parse_python("a = 1\n", "a.py"));
  std::filesystem::remove(folder_ + "/behind");
  EXPECT_TRUE(parse_python("b = 2\n", "a.py"));
  EXPECT_TRUE(parse_python("c = 3\n", "a.py"));
  EXPECT_EQ(asked(), 2);
}

TEST(Syntax, KeptTreesAreThoseOfTheText) {
  for (int round = 0; round < 2; ++round) {
    for (const char* name : {"first", "second"}) {
      const auto source = parse_python(std::string(name) + " = 1\n", std::string(name) + ".py");
      ASSERT_TRUE(source);
      EXPECT_EQ((*source)->name, std::string(name) + ".py");
      const Json& target = (*source)->tree["body"].items()[0]["targets"].items()[0];
      EXPECT_EQ(target["id"].as_string(), name);
    }
  }
}

TEST(Places, CaretAndHint) {
  const auto source = parse_python("y = bad(x)\n", "a.py");
  ASSERT_TRUE(source);
  const Error error =
      error_at(**source, (*source)->tree["body"].items()[0]["value"], "no\ndo it otherwise");
  EXPECT_EQ(error.message,
            "a.py:1:5: error: no\n  y = bad(x)\n      ^~~~~~\n  hint: do it otherwise");
}

}  // namespace
}  // namespace kw::frontend
