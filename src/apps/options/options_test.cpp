#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "core/text.h"
#include "options/args.h"
#include "options/complete.h"

namespace kw::options {
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

TEST(Help, NamesEachOptionOnce) {
  for (const Command& command : commands()) {
    if (command.hidden || command.options.empty()) continue;
    std::set<std::string> rows = {"--json", "--help"};
    for (const Use& use : command.options)
      EXPECT_TRUE(rows.insert(use.row->name).second) << command.name << " " << use.row->name;
    EXPECT_EQ(options_in(command.help), rows) << command.name;
  }
}

TEST(Help, NamesEveryCommandThatIsNotHidden) {
  const std::string text = help_text("main");
  for (const Command& command : commands()) {
    const bool named = text.find("\n  " + command.name + " ") != std::string::npos;
    EXPECT_EQ(named, !command.hidden) << command.name;
    EXPECT_EQ(command.help.empty(), command.hidden) << command.name;
  }
}

TEST(Help, FitsATerminal) {
  for (const Command& command : commands()) {
    std::istringstream lines(command.help);
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
  EXPECT_EQ(parsed("run", {"a.cu", "--compiler", "-1"}).one("--compiler"), "-1");
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
           {"run", {"a.cu", "--dim"}, "--dim needs a value; see 'kernelwright help run'"},
           {"run", {"a.cu", "--device="}, "--device needs a value"},
           {"run", {"a.cu", "--device", "--json"}, "--device needs a value"},
           {"run", {"a.cu", "--dim", "--dims={}"}, "--dim needs a value"},
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

TEST(Values, StayInTheirLimits) {
  EXPECT_EQ(parsed("run", {"a"}).integer("--threads", 7), 7);
  EXPECT_EQ(parsed("run", {"a", "--threads", "9"}).integer("--threads", 7), 9);
  EXPECT_EQ(refusal("run", {"a", "--threads", "1025"}),
            "--threads: '1025' is not a whole number from 1 to 1024");
  // A goal beyond the floor is taken by all of them.
  for (const char* command : {"eval", "synthesize", "evolve"}) {
    EXPECT_EQ(refusal(command, {"--goal", "1.5"}), "") << command;
    EXPECT_TRUE(refusal(command, {"--goal", "-1"}).starts_with("--goal: '-1' is not a number"))
        << command;
  }
  EXPECT_EQ(refusal("evolve", {"x", "--verifiers", "maybe"}),
            "--verifiers needs on or off, not 'maybe'");
  EXPECT_EQ(parsed("run", {"a", "--timeout", "0.5"}).number("--timeout"), 0.5);
  for (const char* bad : {"0", "-1", "nan", "inf", "1e9", "soon"})
    EXPECT_NE(refusal("run", {"a", "--timeout", bad}), "") << bad;
  EXPECT_EQ(parsed("synthesize", {"--time=1.5m"}).number("--time"), 90);
  EXPECT_EQ(parsed("synthesize", {"--time=500ms"}).number("--time"), 0.5);
  for (const char* bad : {"-1", "2d", "8000h", "s"})
    EXPECT_NE(refusal("synthesize", {"--time", bad}), "") << bad;
}

TEST(Values, AreTheRowsWhenNotGiven) {
  EXPECT_EQ(parsed("run", {"a"}).number("--timeout"), 60);
  EXPECT_EQ(parsed("synthesize", {}).number("--time"), 60);
  EXPECT_EQ(parsed("evolve", {"x"}).number("--time"), 0);
  EXPECT_EQ(parsed("evolve", {"x"}).integer("--generations"), 10);
  EXPECT_EQ(parsed("tune-verifiers", {}).integer("--generations"), 4);
  EXPECT_FALSE(parsed("run", {"a"}).given("--timeout"));
  EXPECT_TRUE(parsed("evolve", {"x"}).on("--verifiers"));
}

std::set<std::string> given_anew(const char* command) {
  std::set<std::string> names;
  for (const Use& use : find_command(command)->options)
    if (use.row->replay.anew) names.insert(use.row->name);
  return names;
}

TEST(Replay, RunsTakeSomeOptionsAnew) {
  EXPECT_EQ(given_anew("evolve"),
            (std::set<std::string>{"--generations", "--ensemble", "--budget", "--max-calls",
                                   "--max-tokens", "--time", "--device", "--record", "--replay",
                                   "--threads", "--timeout", "--out", "--allow-commands",
                                   "--no-python", "--unconfined"}));
  EXPECT_EQ(given_anew("tune-verifiers"),
            (std::set<std::string>{"--generations", "--budget", "--max-calls", "--max-tokens",
                                   "--second-model", "--model", "--in-flight", "--record",
                                   "--replay", "--runs", "--no-install", "--out",
                                   "--allow-commands", "--unconfined"}));
  // All that these two take is given anew.
  for (const char* name : {"resume", "tune"})
    EXPECT_EQ(given_anew(name).size(), find_command(name)->options.size()) << name;
}

TEST(Replay, RowsOfOneCommandAndItsResumeAgree) {
  for (const Use& use : find_command("resume")->options) {
    const Option* started = find_command("synthesize")->find(use.row->name);
    if (started == nullptr) continue;
    EXPECT_STREQ(started->replay.keys, use.row->replay.keys) << use.row->name;
  }
}

TEST(Resources, FollowStepAndDevice) {
  EXPECT_EQ(resource_of({"verify", "a.cu"}), ResourceClass::Gpu);
  EXPECT_EQ(resource_of({"verify", "--device=vgpu", "--", "a.cu"}), ResourceClass::Cpu);
  EXPECT_EQ(resource_of({"verify", "--", "--device=vgpu"}), ResourceClass::Gpu);
  EXPECT_EQ(resource_of({"optimize", "--run-dir=x", "--", "state"}), ResourceClass::Quick);
  EXPECT_EQ(resource_of({"optimize", "--run-dir=x", "--", "close-iter"}), ResourceClass::Gpu);
  EXPECT_EQ(resource_of({"check", "--device=vgpu"}), ResourceClass::Cpu);
  EXPECT_EQ(resource_of({"catalog"}), ResourceClass::Quick);
  EXPECT_EQ(resource_of({}), ResourceClass::Quick);
}

std::string completed(const std::vector<std::string>& words) {
  const Completion made = complete_words(words);
  if (made.from != Completion::From::Words)
    return made.from == Completion::From::Files ? "<files>" : "<folders>";
  std::vector<std::string> names;
  for (const auto& [word, about] : made.words) names.push_back(word);
  return join(names, " ");
}

TEST(Complete, FollowsTheRows) {
  EXPECT_EQ(completed({"ver"}), "verify version");
  EXPECT_EQ(completed({"verify", "--de"}), "--device");
  EXPECT_EQ(completed({"verify", "--device", ""}), "auto gpu vgpu");
  EXPECT_EQ(completed({"verify", "--device=v"}), "--device=vgpu");
  EXPECT_EQ(completed({"verify", "--device", "=", "v"}), "vgpu");
  EXPECT_EQ(completed({"verify", "--device", "="}), "auto gpu vgpu");
  EXPECT_EQ(completed({"verify", "--device", "gpu", "--dev"}), "");
  EXPECT_EQ(completed({"verify", "--dim", "B=1", "--di"}), "--dim --dims");
  EXPECT_EQ(completed({"bench", "a.cu", "--versus", "eager,com"}), "eager,compile");
  EXPECT_EQ(completed({"evolve", "--verifiers", "o"}), "on off");
  EXPECT_EQ(completed({"verify", "--threads", ""}), "");
  EXPECT_EQ(completed({"verify", "a.cu", ""}), "<files>");
  EXPECT_EQ(completed({"verify", "--reference", "x"}), "<files>");
  EXPECT_EQ(completed({"synthesize", "--out", ""}), "<folders>");
  EXPECT_EQ(completed({"resume", ""}), "<folders>");
  EXPECT_EQ(completed({"run", "--", "--dev"}), "<files>");
  EXPECT_EQ(completed({"help", "comple"}), "completions");
  EXPECT_EQ(completed({"completions", ""}), "bash zsh fish");
  EXPECT_EQ(completed({"version", ""}), "--json --help");
  EXPECT_EQ(completed({"nothing", ""}), "");
}

TEST(Complete, EveryShellHasAScript) {
  for (const std::string& shell : completion_shells())
    EXPECT_NE(completion_script(shell).find(" complete -- "), std::string::npos) << shell;
  EXPECT_EQ(completion_script("tcsh"), "");
}

TEST(Rows, AreSound) {
  for (const Option& row : all_options()) {
    EXPECT_EQ(row.is_flag(), *row.value == '\0') << row.name;
    EXPECT_TRUE(*row.fallback == '\0' || check_value(row, row.fallback)) << row.name;
    bool used = std::string(row.name) == "--json" || std::string(row.name) == "--help";
    for (const Command& command : commands()) used = used || command.find(row.name) == &row;
    EXPECT_TRUE(used) << row.name << " " << row.of;
    for (const std::string& name : split(row.of, ' '))
      EXPECT_TRUE(name.empty() || find_command(name) != nullptr) << row.name << " " << name;
  }
}

}  // namespace
}  // namespace kw::options
