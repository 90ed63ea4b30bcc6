// Every kernel of the corpus on the virtual GPU: right results at every setting, and not one
// finding.
#include "corpus.h"

#include <gtest/gtest.h>

#include "binding/load.h"
#include "kernel/select.h"
#include "run.h"
#include "tools.h"
#include "worker_main.h"

namespace kw::corpus {
namespace {

Tools& tools() {
  static Tools opened;
  return opened;
}

class Corpus : public testing::TestWithParam<const Entry*> {
 protected:
  void SetUp() override {
    if (!tools().problem().empty()) GTEST_SKIP() << tools().problem();
    if (!tools().can_compile(GetParam()[0]))
      GTEST_SKIP() << tools().compiler().name() << " cannot serve "
                   << needs_text(GetParam()->needs);
    auto loaded = binding::load_module(module_path(*GetParam()));
    ASSERT_TRUE(loaded) << loaded.error().message;
    module_ = std::move(loaded).value();
  }

  /// Runs one setting and checks everything that can be checked about it.
  ports::RunOutcome check(const std::string& target, const Setting& setting,
                          const ports::RunOptions& options = {}) {
    SCOPED_TRACE(target + " " + setting.text());
    Workbench& bench = tools().virtual_bench(target);
    auto prepared = bench.prepare(module_, setting);
    EXPECT_TRUE(prepared) << prepared.error().message;
    if (!prepared) return {};
    Case made(module_, prepared->program, setting, 1);
    if (GetParam()->fill) GetParam()->fill(made);
    auto outcome = bench.run(*prepared, made.inputs(), options);
    EXPECT_TRUE(outcome) << outcome.error().message;
    if (!outcome) return {};
    EXPECT_EQ(ports::run_status_name(outcome->status),
              std::string(ports::run_status_name(ports::RunStatus::Completed)))
        << outcome->message;
    EXPECT_EQ(findings_text(unexpected(*GetParam(), outcome->findings)), "");
    GetParam()->reference(made);
    const Comparison against =
        compare_outputs(prepared->program, *outcome, made.expected(), *GetParam());
    EXPECT_TRUE(against.within) << against.first;
    return std::move(outcome).value();
  }

  kernel::Module module_;
};

TEST_P(Corpus, MatchesTheReference) {
  bool first = true;
  for (const Setting& setting : GetParam()->settings) {
    const ports::RunOutcome outcome = check("sm_90", setting);
    if (first) {
      EXPECT_EQ(outcome.printed, GetParam()->prints);
    }
    first = false;
  }
}

TEST_P(Corpus, MatchesWithEveryTunable) {
  for (const auto& tunes : kernel::tune_space(module_, 64)) {
    Setting setting = GetParam()->settings.front();
    setting.tunes = tunes;
    check("sm_90", setting);
  }
}

TEST_P(Corpus, MatchesOnAnOlderTarget) { check("sm_80", GetParam()->settings.back()); }

TEST_P(Corpus, DoesNotDependOnOrderOrThreads) {
  const Setting& setting = GetParam()->settings.back();
  ports::RunOptions one, several;
  one.threads = 1;
  several.threads = 3;
  several.check_order = true;
  several.schedule_seed = 7;
  const ports::RunOutcome a = check("sm_90", setting, one), b = check("sm_90", setting, several);
  ASSERT_EQ(a.buffers.size(), b.buffers.size());
  for (size_t i = 0; i < a.buffers.size(); ++i) EXPECT_EQ(a.buffers[i].data, b.buffers[i].data);
}

std::vector<const Entry*> all_entries() {
  std::vector<const Entry*> list;
  for (const Entry& entry : entries()) list.push_back(&entry);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Corpus, testing::ValuesIn(all_entries()),
                         [](const auto& entry) { return entry.param->name; });

}  // namespace
}  // namespace kw::corpus

int main(int argc, char** argv) {
  if (const auto code = kw::corpus::serve_as_worker(argc, argv)) return *code;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
