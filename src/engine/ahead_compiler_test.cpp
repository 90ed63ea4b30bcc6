#include "engine/ahead_compiler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

namespace kw::engine {
namespace {

class Slow : public exec::Compiler {
 public:
  std::atomic<int> compiles = 0, busy = 0, most_busy = 0;
  std::string name() const override { return "slow"; }
  Result<exec::CompileOutcome> compile(const exec::CompileRequest& request) override {
    const int now = ++busy;
    int most = most_busy;
    while (now > most && !most_busy.compare_exchange_weak(most, now)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    --busy;
    ++compiles;
    if (request.source == "broken machine") return environment_error("no disk");
    exec::CompileOutcome outcome;
    outcome.compiled = exec::Compiled{};
    outcome.compiled->image = request.source;
    return outcome;
  }
};

exec::CompileRequest request(const std::string& source, int64_t tune = 1) {
  exec::CompileRequest made;
  made.source = source;
  made.defines = {{"VEC", tune}};
  return made;
}

TEST(AheadCompiler, CompilesOnceWhatWasAnnounced) {
  Slow inner;
  AheadCompiler ahead(inner, 2);
  for (int i = 0; i < 6; ++i) ahead.ahead(request("a", i));
  for (int i = 0; i < 6; ++i) ahead.ahead(request("a", i));
  for (int i = 0; i < 6; ++i) {
    const auto outcome = ahead.compile(request("a", i));
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->compiled->image, "a");
  }
  EXPECT_EQ(inner.compiles, 6);
  EXPECT_GE(inner.most_busy, 2);
}

TEST(AheadCompiler, AnswersWhatWasNotAnnouncedToo) {
  Slow inner;
  AheadCompiler ahead(inner, 0);
  ahead.ahead(request("a"));
  EXPECT_EQ(ahead.compile(request("b"))->compiled->image, "b");
  EXPECT_EQ(ahead.compile(request("a", 2))->compiled->image, "a");
  EXPECT_EQ(inner.compiles, 2);
}

TEST(AheadCompiler, PassesErrorsOn) {
  Slow inner;
  AheadCompiler ahead(inner, 1);
  ahead.ahead(request("broken machine"));
  const auto outcome = ahead.compile(request("broken machine"));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "no disk");
}

TEST(AheadCompiler, LeavesWhatIsStillWaitingWhenItEnds) {
  Slow inner;
  {
    AheadCompiler ahead(inner, 1);
    for (int i = 0; i < 100; ++i) ahead.ahead(request("a", i));
  }
  EXPECT_LT(inner.compiles, 100);
}

}  // namespace
}  // namespace kw::engine
