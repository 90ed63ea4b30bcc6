#include "report/verdict.h"

#include <gtest/gtest.h>

namespace kw::report {

namespace {

std::string text_of(const record::Verdict& verdict) { return verdict_text(verdict, {}, {}); }

}  // namespace

TEST(VerdictText, SaysWhatAndHowToSeeItAgain) {
  record::Wrong wrong;
  wrong.reason = "y[1, 2]: got 1.5, expected 1";
  wrong.repro = "kernelwright verify k.cu --reference k.py --seed 1";
  wrong.summary.worst = record::Worst{"y", {1, 2}, 1.5, 1, 0.001, 500, 4.2e6, ""};
  wrong.summary.cell = record::Cell{"B=2 D=3", "spikes", 1, false};
  wrong.summary.max_z = 500;
  wrong.summary.elements = 6;
  EXPECT_EQ(text_of(wrong),
            "WRONG at stage numerics\n"
            "  reason          y[1, 2]: got 1.5, expected 1\n"
            "  worst element   y[1, 2]: got 1.5, expected 1, allowed ±0.001 (z 500, 4.2e+06 ulps)\n"
            "  in              B=2 D=3, spikes\n"
            "  error           max z 500, rms z 0; max abs 0, max rel 0, max 0 ulps; 6 elements\n"
            "  again           kernelwright verify k.cu --reference k.py --seed 1\n");
}

TEST(VerdictText, UnknownSaysWhatIsMissing) {
  EXPECT_EQ(text_of(record::Unknown{"the virtual GPU cannot run it"}),
            "UNKNOWN\n  missing         the virtual GPU cannot run it\n");
}

TEST(VerdictText, PassedShowsTheErrorAndDeterminism) {
  record::Passed passed{{}, 40, false};
  const std::string text = text_of(passed);
  EXPECT_NE(text.find("PASSED\n  cells           40 right\n"), std::string::npos) << text;
  EXPECT_NE(text.find("deterministic   no"), std::string::npos) << text;
}

TEST(VerdictText, AFindingIsShownInItsSource) {
  record::Rejected rejected{record::Stage::VirtualGpu, "out-of-bounds-global: reads x[9]",
                            record::Finding{}, "again"};
  rejected.finding->kind = record::FindingKind::OutOfBoundsGlobal;
  rejected.finding->message = "reads x[9]";
  rejected.finding->at = {"k.cu", 2, 0};
  const std::string text =
      verdict_text(rejected, {nullptr, "k.cu", "first line\nsecond line\n"}, {});
  EXPECT_NE(text.find("REJECTED at stage vgpu\n"), std::string::npos);
  EXPECT_NE(text.find("second line"), std::string::npos) << text;
  EXPECT_NE(text.find("  again           again\n"), std::string::npos) << text;
}

TEST(VerdictText, TextFromOutsideIsMadeSafe) {
  EXPECT_EQ(text_of(record::Unknown{"a\x1b[31mb"}).find('\x1b'), std::string::npos);
}

}  // namespace kw::report
