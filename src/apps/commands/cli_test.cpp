#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "commands/command.h"
#include "commands/values.h"

namespace kw::commands {

namespace {

std::set<std::string> options_in(const std::string& text) {
  std::set<std::string> found;
  const std::regex pattern("\n  (--[a-z-]+)");
  for (auto it = std::sregex_iterator(text.begin(), text.end(), pattern);
       it != std::sregex_iterator(); ++it) {
    found.insert((*it)[1]);
  }
  return found;
}

Args parsed(const char* command, const std::vector<std::string>& words) {
  Result<Args> args = parse_args(*find_command(command), words);
  EXPECT_TRUE(args) << args.error().message;
  return args ? std::move(args).value() : Args{};
}

std::string refusal(const char* command, const std::vector<std::string>& words) {
  const auto args = parse_args(*find_command(command), words);
  return args ? "" : args.error().message;
}

}  // namespace

TEST(Help, DescribesEveryOptionAndNoOther) {
  for (const Command& command : commands()) {
    if (command.hidden || command.options.empty()) continue;
    std::set<std::string> rows = {"--json", "--help"};
    for (const OptionRow& row : command.options) rows.insert(row.name);
    EXPECT_EQ(options_in(help_text(command.name)), rows) << command.name;
  }
}

TEST(Help, NamesEveryCommandThatIsNotHidden) {
  const std::string text = help_text("main");
  for (const Command& command : commands()) {
    const bool named = text.find(std::string("\n  ") + command.name + " ") != std::string::npos;
    EXPECT_EQ(named, !command.hidden) << command.name;
    EXPECT_EQ(help_text(command.name).empty(), command.hidden) << command.name;
  }
}

TEST(Help, FitsATerminal) {
  for (const Command& command : commands()) {
    std::istringstream lines(help_text(command.name));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(Parse, SortsWords) {
  const Args args =
      parsed("run", {"a.cu", "--dim", "B=1", "--dim", "D=2", "--counters", "--threads=3"});
  EXPECT_EQ(args.positionals, std::vector<std::string>{"a.cu"});
  EXPECT_EQ(args.all("--dim"), (std::vector<std::string>{"B=1", "D=2"}));
  EXPECT_TRUE(args.has("--counters"));
  EXPECT_FALSE(args.has("--time"));
  EXPECT_EQ(args.one("--threads"), "3");
  EXPECT_EQ(args.one("--device", "auto"), "auto");
}

TEST(Parse, TakesValuesThatLookLikeOptions) {
  EXPECT_EQ(parsed("run", {"a.cu", "--scalar", "eps=-1"}).one("--scalar"), "eps=-1");
  EXPECT_EQ(parsed("run", {"a.cu", "--timeout", "-1"}).one("--timeout"), "-1");
  EXPECT_EQ(parsed("run", {"a.cu", "--output", "-out"}).one("--output"), "-out");
  EXPECT_EQ(parsed("run", {"--counters", "--", "-a.cu"}).positionals,
            std::vector<std::string>{"-a.cu"});
}

struct Refused {
  const char* command;
  std::vector<std::string> words;
  const char* message;
};

TEST(Parse, RefusesWithASuggestion) {
  for (const Refused& c : std::vector<Refused>{
           {"run", {}, "run needs a MODULE"},
           {"run", {"a.cu", "b.cu"}, "'b.cu' was not expected"},
           {"run", {"a.cu", "--dimm", "B=1"}, "run has no option --dimm (did you mean '--dim'?)"},
           {"run", {"a.cu", "--dim"}, "--dim wants a value; see 'kernelwright help run'"},
           {"run", {"a.cu", "--device="}, "--device wants a value"},
           {"run", {"a.cu", "--device", "--json"}, "--device wants a value"},
           {"run", {"a.cu", "--dim", "--dims={}"}, "--dim wants a value"},
           {"run", {"a.cu", "--counters=3"}, "--counters takes no value"},
           {"run", {"a.cu", "--json=1"}, "--json takes no value"},
           {"lint", {}, "lint needs a TASK;"},
           {"compare", {}, "compare needs two MODULES;"},
           {"run", {"a.cu", "-x"}, "no option -x"},
           {"run",
            {"a.cu", "--threads", "1", "--threads=2"},
            "--threads is given twice, as '1' and as '2'"},
           {"doctor", {"--dim", "B=1"}, "doctor has no option --dim"},
           {"version", {"now"}, "'now' was not expected"}}) {
    EXPECT_NE(refusal(c.command, c.words).find(c.message), std::string::npos)
        << refusal(c.command, c.words);
  }
}

TEST(Values, DimsFromBothOptions) {
  const auto request = binding_options(
      parsed("run", {"a", "--dims", R"({"B": 4, "D": 5})", "--dim", "E=6", "--dim", "B=4"}));
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->dims, (std::map<std::string, int64_t>{{"B", 4}, {"D", 5}, {"E", 6}}));
}

TEST(Values, RefusesWhatIsNoNumber) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"a", "--dim", "B"}, "--dim wants NAME=VALUE"},
      {{"a", "--dim", "=4"}, "--dim wants NAME=VALUE"},
      {{"a", "--dim", "B=x"}, "'x' is no whole number"},
      {{"a", "--dim", "B=1.5"}, "'1.5' is no whole number"},
      {{"a", "--dim", "B=99999999999999999999"}, "no whole number of 64 bits"},
      {{"a", "--dim", "B=1", "--dim", "B=2"}, "is given as 1 and as 2"},
      {{"a", "--dims", "{"}, "--dims"},
      {{"a", "--dims", "[1]"}, "--dims wants a JSON object"},
      {{"a", "--dims", R"({"B": "4"})"}, "not a whole number"},
      {{"a", "--dims", R"({"B": 1e30})"}, "not a whole number"},
  };
  for (const auto& [words, message] : cases) {
    const auto request = binding_options(parsed("run", words));
    ASSERT_FALSE(request) << message;
    EXPECT_NE(request.error().message.find(message), std::string::npos) << request.error().message;
  }
}

TEST(Values, NumbersStayInTheirLimits) {
  EXPECT_EQ(*integer_option(parsed("run", {"a"}), "--threads", 7, 1, 9), 7);
  EXPECT_EQ(*integer_option(parsed("run", {"a", "--threads", "9"}), "--threads", 7, 1, 9), 9);
  EXPECT_FALSE(integer_option(parsed("run", {"a", "--threads", "10"}), "--threads", 7, 1, 9));
  EXPECT_EQ(*timeout_option(parsed("run", {"a", "--timeout", "0.5"})), 0.5);
  for (const char* bad : {"0", "-1", "nan", "inf", "1e9", "soon"}) {
    EXPECT_FALSE(timeout_option(parsed("run", {"a", "--timeout", bad}))) << bad;
  }
}

TEST(Exit, CodesFollowBlame) {
  EXPECT_EQ(exit_code(Blame::Input), 2);
  EXPECT_EQ(exit_code(Blame::Environment), 3);
  EXPECT_EQ(exit_code(Blame::Bug), 70);
}

TEST(Backward, IsAFunctionsName) {
  EXPECT_EQ(parsed("describe", {"x.py", "--backward"}).one("--function"), "backward");
  EXPECT_EQ(parsed("lint", {"x.py", "--function", "f", "--backward"}).one("--function"),
            "f.backward");
  EXPECT_EQ(parsed("synthesize", {"--reference", "x.py:f", "--backward"}).one("--reference"),
            "x.py:f.backward");
  EXPECT_FALSE(parsed("describe", {"x.py", "--backward"}).has("--backward"));
  EXPECT_TRUE(parsed("eval", {"--backward"}).has("--backward"));
  EXPECT_NE(refusal("sass", {"x.cu", "--backward"}), "");
}

}  // namespace kw::commands
