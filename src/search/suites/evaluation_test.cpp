#include "suites/evaluation.h"

#include <gtest/gtest.h>

#include "suites/number_text.h"

namespace kw::suites {
namespace {

Evaluation example() {
  Evaluation e;
  e.suite = "internal";
  e.version = "1.2.3";
  e.started = "2026-01-02T03:04:05Z";
  e.command = "kernelwright eval --suite internal";
  e.selected = 3;
  TaskRow good;
  good.kernel = "relu";
  good.passed = good.measured = true;
  good.speedup = 1.5;
  good.relation = "FASTER";
  good.wall_seconds = 2;
  TaskRow bad;
  bad.kernel = "a|b";
  bad.failure_kind = kStageFailure;
  bad.failed_stage = "search";
  bad.failure_reason = "x < y & \"z\"\x01\nsecond";
  TaskRow lost;
  lost.kernel = "lost";
  lost.failure_kind = kRunnerError;
  lost.failure_reason = "crashed";
  e.rows = {good, bad, lost};
  return e;
}

TEST(Evaluation, SettlesTotalsAndRegressions) {
  Evaluation e = example();
  e.against = "old";
  TaskRow was = e.rows[0];
  was.speedup = 2.5;
  TaskRow passed = e.rows[1];
  passed.passed = true;
  compute_totals({was, passed}, &e);
  EXPECT_EQ(e.totals.passed.count, 1);
  EXPECT_EQ(e.regressions(), 2);
  EXPECT_EQ(e.rows[0].regression, "speedup_drop:2.5->1.5");
  EXPECT_EQ(e.rows[1].regression, "pass_to_fail");
  EXPECT_EQ(e.rows[2].regression, "");
  EXPECT_NE(summary_text(e).find("against     old: 2 regressions\n"), std::string::npos);
  compute_totals({e.rows[0]}, &e);
  EXPECT_EQ(e.rows[0].regression, "");  // replaced, not added to
}

TEST(Evaluation, JunitIsWellFormedWhateverTheReason) {
  Evaluation e = example();
  compute_totals({}, &e);
  const std::string xml = junit_xml(e);
  EXPECT_NE(xml.find("tests=\"3\" failures=\"1\" errors=\"1\""), std::string::npos);
  EXPECT_NE(xml.find("x &lt; y &amp; &quot;z&quot;?&#10;second"), std::string::npos);
  EXPECT_NE(xml.find("<error type=\"runner_error\""), std::string::npos);
  EXPECT_EQ(xml.find('\x01'), std::string::npos);
}

TEST(Evaluation, MarkdownKeepsItsTable) {
  Evaluation e = example();
  compute_totals({}, &e);
  const std::string text = summary_markdown(e);
  EXPECT_NE(text.find("| a\\|b |"), std::string::npos);
  EXPECT_NE(text.find("| passed | 1/3 (33.3 %"), std::string::npos);
  EXPECT_NE(text.find("1 runner_error, 1 stage_failure"), std::string::npos);
  EXPECT_EQ(text.find("Against"), std::string::npos);
}

TEST(Evaluation, FailedBaselinesAreNamedWithTheirTask) {
  Evaluation e = example();
  compute_totals({}, &e);
  EXPECT_EQ(summary_markdown(e).find("Baselines that failed"), std::string::npos);
  e.rows[0].baseline_failure = "baseline eager failed: the reference raised: a | b";
  EXPECT_NE(summary_markdown(e).find("## Baselines that failed\n\n- `relu` baseline eager failed: "
                                     "the reference raised: a \\| b\n"),
            std::string::npos);
  const auto back = rows_from_csv(to_csv(e.rows));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ((*back)[0].baseline_failure, e.rows[0].baseline_failure);
}

TEST(Evaluation, WithoutAClockNoRateOfSpeedIsShown) {
  Evaluation e = example();
  e.rows[0].measured = false;
  compute_totals({}, &e);
  const std::string text = summary_markdown(e);
  EXPECT_EQ(text.find("fast_"), std::string::npos);
  EXPECT_NE(text.find("nothing was timed"), std::string::npos);
}

TEST(Evaluation, TerminalTextNamesWhatFailed) {
  Evaluation e = example();
  compute_totals({}, &e);
  const std::string text = summary_text(e);
  EXPECT_NE(text.find("failed lost: crashed"), std::string::npos);
  EXPECT_NE(text.find("geomean 1.500x"), std::string::npos);
}

TEST(Words, AreShort) {
  EXPECT_EQ(duration_text(59.94), "59.9 s");
  EXPECT_EQ(duration_text(250), "4 min 10 s");
  EXPECT_EQ(duration_text(3725), "1 h 02 min");
  EXPECT_EQ(short_text("äöü", 3), "ä…");
  EXPECT_EQ(short_text("one\ntwo", 100), "one");
}

}  // namespace
}  // namespace kw::suites
