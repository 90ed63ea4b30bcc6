#include "machine/ahead_compiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "ports/image_pack.h"

namespace kw::machine {
namespace {

class Slow : public ports::Compiler {
 public:
  std::atomic<int> compiles = 0, busy = 0, most_busy = 0;
  std::string name() const override { return "slow"; }
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override {
    const int now = ++busy;
    int most = most_busy;
    while (now > most && !most_busy.compare_exchange_weak(most, now)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    --busy;
    ++compiles;
    if (request.source == "broken machine") return environment_error("no disk");
    ports::CompileOutcome outcome;
    outcome.compiled = ports::Compiled{};
    outcome.compiled->image = request.source;
    return outcome;
  }
};

ports::CompileRequest request(const std::string& source, int64_t tune = 1) {
  ports::CompileRequest made;
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

/// A module of two kernels, large enough to compile apart; `second` is the body of the second.
ports::CompileRequest of_two_kernels(const std::string& second) {
  std::string body;
  while (body.size() < 5000) body += "  x[threadIdx.x] += 1;\n";
  ports::CompileRequest made =
      request("__global__ void first(int* x) {\n" + body + "}\n__global__ void second(int* x) {\n" +
              body + second + "}\n");
  made.kernels = {"first", "second"};
  made.image = ports::ImageKind::Cubin;
  made.apart = true;
  return made;
}

class Listing : public Slow {
 public:
  std::vector<std::string> seen;
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override {
    const std::lock_guard lock(mutex_);
    std::string names;
    for (const std::string& kernel : request.kernels) names += kernel + " ";
    seen.push_back(names);
    if (request.source.find("broken") != std::string::npos) {
      ports::CompileOutcome failed;
      failed.failed = ports::CompileFailed{};
      failed.failed->log = names + "do not compile";
      return failed;
    }
    auto outcome = Slow::compile(request);
    for (const std::string& kernel : request.kernels)
      outcome->compiled->kernels.push_back({kernel, kernel, kernel, {}});
    return outcome;
  }

 private:
  std::mutex mutex_;
};

TEST(AheadCompiler, CompilesAKernelThatModulesShareOnce) {
  Listing inner;
  AheadCompiler ahead(inner, 2, Kernels::Apart);
  for (const char* second : {"  x[0] = 1;\n", "  x[0] = 2;\n", "  x[0] = 1;\n"}) {
    ahead.ahead(of_two_kernels(second));
    const auto outcome = ahead.compile(of_two_kernels(second));
    ASSERT_TRUE(outcome && outcome->compiled);
    EXPECT_EQ(ports::images_in(outcome->compiled->image).size(), 2U);
    EXPECT_EQ(outcome->compiled->kernels[1].entry, "second");
  }
  std::ranges::sort(inner.seen);
  EXPECT_EQ(inner.seen, (std::vector<std::string>{"first ", "second ", "second "}));
}

TEST(AheadCompiler, CompilesWholeWhatIsNotToBeCutOrDoesNotCompile) {
  Listing inner;
  AheadCompiler ahead(inner, 0, Kernels::Apart);
  ports::CompileRequest plain = of_two_kernels("");
  plain.apart = false;
  EXPECT_EQ(ahead.compile(plain)->compiled->image, plain.source);
  EXPECT_EQ(ahead.compile(of_two_kernels("broken\n"))->failed->log, "first second do not compile");
  Listing together;
  AheadCompiler other(together, 0);
  EXPECT_EQ(other.compile(of_two_kernels(""))->compiled->image, plain.source);
}

TEST(AheadCompiler, AsksAgainAfterAnErrorOfTheMachine) {
  Slow inner;
  AheadCompiler ahead(inner, 0);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(ahead.compile(request("broken machine")));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ahead.compile(request("a")));
  EXPECT_EQ(inner.compiles, 4);
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
}  // namespace kw::machine
