// Damages references at random and loads what is left: whatever comes out, an answer or a refusal,
// nothing may crash, hang or pass for sound when it is not.
#include <gtest/gtest.h>

#include "cases.h"
#include "core/check.h"
#include "core/hash.h"
#include "core/text.h"
#include "graph/graph.h"
#include "os/files.h"
#include "task_formats/load.h"

namespace kw::task_formats {
namespace {

class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  size_t below(size_t bound) {
    state_ = hash64("dice", state_);
    return bound ? static_cast<size_t>(state_ % bound) : 0;
  }

 private:
  uint64_t state_;
};

/// Pieces of Python that meet the evaluator's edges when put in a wrong place.
constexpr std::string_view kPieces[] = {
    "x",        "-1",           "None",       "[]",      "()",   "{}",   "x.shape",
    "...",      "10**9",        "0",          "1e99",    "True", "'s'",  "x[0]",
    "x > 0",    "lambda: x",    "x.T",        "torch",   "-x",   "self", "x.sum",
    "range(3)", "float('nan')", "x[:, None]", "1 << 40", "2.5",  "int",  "slice(None)"};

/// Replaces, drops or repeats one word or line.
std::string mutated(const std::string& text, Dice& dice) {
  std::vector<std::string> lines = split(text, '\n');
  const size_t at = dice.below(lines.size());
  std::string& line = lines[at];
  switch (dice.below(5)) {
    case 0:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), line);
      break;
    case 2:
      if (!line.empty()) line[dice.below(line.size())] = "()[]:,.=+-*x01 "[dice.below(15)];
      break;
    default: {
      size_t begin = dice.below(line.size() + 1);
      while (begin > 0 && std::isalnum(static_cast<unsigned char>(line[begin - 1]))) --begin;
      size_t end = begin;
      while (end < line.size() && std::isalnum(static_cast<unsigned char>(line[end]))) ++end;
      line.replace(begin, end - begin, kPieces[dice.below(std::size(kPieces))]);
    }
  }
  return join(lines, "\n");
}

/// KW_FUZZ_ROUNDS and KW_FUZZ_SEED make a longer run of it.
int64_t from_environment(const char* name, int64_t fallback) {
  return parse_int(os::env(name)).value_or(fallback);
}

TEST(Mutations, NeverCrash) {
  int accepted = 0, refused = 0;
  Dice dice(static_cast<uint64_t>(from_environment("KW_FUZZ_SEED", 7)));
  const int64_t rounds = from_environment("KW_FUZZ_ROUNDS", 1);
  for (const std::string folder : {"kernelbench", "graphs"}) {
    for (const std::string& name : cases_in(folder)) {
      const std::string path = case_path(folder, name + ".py");
      const std::string text = *os::read_file(path);
      const LoadOptions options = options_of(text);
      for (int64_t round = 0; round < rounds; ++round) {
        std::string damaged = text;
        for (size_t i = 0; i <= dice.below(2); ++i) damaged = mutated(damaged, dice);
        const auto task = load_python(damaged, path, options);
        ++(task ? accepted : refused);
        if (!task) {
          EXPECT_NE(task.error().blame, Blame::Bug) << task.error().message << "\n" << damaged;
          EXPECT_FALSE(task.error().message.empty());
          continue;
        }
        const auto graph = task->reference->trace(task->benchmark_shapes[0]);
        ASSERT_TRUE(graph) << graph.error().message << "\n" << damaged;
        const auto sound = graph::verify(*graph);
        EXPECT_TRUE(sound) << sound.error().message << "\n" << damaged;
      }
    }
  }
  // Both happen, or the test tests nothing.
  EXPECT_GT(accepted, 20);
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace kw::task_formats
