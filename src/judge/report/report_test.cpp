#include <gtest/gtest.h>

#include "core/golden.h"
#include "core/text.h"

#include <cmath>

#include "report/counters_text.h"
#include "report/excerpt.h"
#include "report/findings.h"
#include "report/picture.h"
#include "report/style.h"

namespace kw::report {

namespace {

using record::Certainty;
using record::Finding;
using record::FindingKind;

void expect_golden(const std::string& name, const std::string& got) {
  kw::expect_golden(std::string(KW_SOURCE_DIR) + "/tests/golden/report/" + name + ".txt", got);
}

const char kSource[] =
    "//! kernelwright 1\n"
    "__global__ void scale(const float* x, float* y, int n) {\n"
    "  __shared__ float tile[256];\n"
    "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
    "\ttile[threadIdx.x] = x[i];\n"
    "  float left = tile[threadIdx.x ^ 32];\n"
    "\n"
    "  if (left > 0) left = 0;\n"
    "  y[i] = left;\n"
    "}\n";

kernel::Program program() {
  kernel::Program p;
  p.buffers.push_back({"x", kernel::Role::Input, tensor::DType::Fp32, {4, 1024}, {}, 16384});
  p.buffers.push_back({"y", kernel::Role::Output, tensor::DType::Fp16, {100}, {}, 200});
  return p;
}

Finding out_of_bounds(int64_t element) {
  Finding f;
  f.kind = FindingKind::OutOfBoundsGlobal;
  f.message = "reads x[" + std::to_string(element) + "], outside its 4096 elements";
  f.kernel = "scale";
  f.at = {"scale.cu", 5, 31};
  f.who = {{16, 0, 0}, {0, 0, 0}};
  f.buffer = "x";
  f.element = element;
  f.count = 1256;
  return f;
}

Finding race() {
  Finding f;
  f.kind = FindingKind::SharedRace;
  f.message = "reads tile[32] while another thread writes it, with no barrier between";
  f.kernel = "scale";
  f.at = {"scale.cu", 6, 40};
  f.who = {{0, 0, 0}, {0, 0, 0}};
  f.buffer = "tile";
  f.element = 32;
  f.other_at = record::Place{"scale.cu", 5, 33};
  f.other = record::ThreadId{{0, 0, 0}, {32, 0, 0}};
  return f;
}

Finding not_written() {
  Finding f;
  f.kind = FindingKind::OutputNotWritten;
  f.certainty = Certainty::Warning;
  f.message = "28 of 100 elements of y were never written; the first is y[72]";
  f.buffer = "y";
  f.element = 72;
  return f;
}

Finding race_between_blocks() {
  Finding f = race();
  f.kind = FindingKind::GlobalRaceBetweenBlocks;
  f.message = "two blocks write y[3]";
  f.at.line = f.other_at->line = 9;
  f.other->block.x = 7;
  f.buffer = "y";
  f.element = 3;
  return f;
}

std::string text_of(const std::vector<Finding>& findings, const Style& style = {}) {
  const kernel::Program p = program();
  return findings_text(findings, {&p, "scale.cu", kSource}, style);
}

}  // namespace

TEST(Findings, OnePastTheEnd) { expect_golden("one_past", text_of({out_of_bounds(4096)})); }
TEST(Findings, FarPastTheEnd) { expect_golden("far_past", text_of({out_of_bounds(1 << 20)})); }
TEST(Findings, BeforeTheStart) {
  expect_golden("before", text_of({out_of_bounds(-1), out_of_bounds(-64)}));
}
TEST(Findings, RaceShowsBothLines) { expect_golden("race", text_of({race()})); }
TEST(Findings, RaceBetweenBlocksNamesThem) {
  expect_golden("race_blocks", text_of({race_between_blocks()}));
}
TEST(Findings, WarningsComeLast) { expect_golden("mixed", text_of({not_written(), race()})); }
TEST(Findings, ColourOnlyWhenAsked) {
  expect_golden("colour", text_of({race()}, Style{true}));
  EXPECT_EQ(text_of({race()}).find('\033'), std::string::npos);
}

TEST(Findings, ManyAreCutAndCounted) {
  const std::vector<Finding> many(20, race());
  const std::string text = findings_text(many, {nullptr, "", ""}, {}, 3);
  EXPECT_NE(text.find("… and 17 more"), std::string::npos);
  EXPECT_NE(text.find("20 errors"), std::string::npos);
}

TEST(Findings, PlacesOutsideTheModuleDoNoHarm) {
  Finding f = race();
  f.at = {"cuda_fp16.hpp", 99999, 1};
  f.other_at->line = 100000;
  EXPECT_NE(text_of({f}).find("cuda_fp16.hpp:99999"), std::string::npos);
}

TEST(Findings, OnePlaceIsMarkedOnce) {
  Finding f = race();
  f.other_at->line = f.at.line;
  f.other = f.who;
  const std::string text = text_of({f});
  EXPECT_EQ(text.find("^^^"), text.rfind(" ^^^") + 1) << text;
}

TEST(Excerpt, TrailingCommentsAreNotUnderlined) {
  EXPECT_EQ(excerpt("f(x);  // why\n", {{1, 0, ""}}, {}),
            "    |\n  1 | f(x);  // why\n    | ^^^^^\n");
  EXPECT_EQ(excerpt("//! launch\n", {{1, 0, ""}}, {}),
            "    |\n  1 | //! launch\n    | ^^^^^^^^^^\n");
}

TEST(Picture, NamesElementsByTheirIndices) {
  const kernel::Program p = program();
  EXPECT_EQ(element_name(p.buffers[0], 1024 + 17), "x[1, 17]");
  EXPECT_EQ(element_name(p.buffers[0], 5000), "x[5000]");
  EXPECT_EQ(element_name(p.buffers[1], 7), "y[7]");
  kernel::Buffer empty{"e", kernel::Role::Input, tensor::DType::Fp32, {0}, {}, 0};
  EXPECT_NE(buffer_picture(empty, 0).find("e[0] is 1 past the end"), std::string::npos);
}

TEST(Excerpt, UnderlinesColumnsAndWholeLines) {
  const std::string text = excerpt(kSource, {{5, 2, "here"}, {9, 0, ""}, {77, 0, ""}}, {});
  expect_golden("excerpt", text);
  EXPECT_EQ(excerpt(kSource, {{0, 0, ""}}, {}), "");
}

TEST(Style, TextFromOutsideIsMadeSafe) {
  EXPECT_EQ(printable("a\tb\nc µ €"), "a\tb\nc µ €");
  EXPECT_EQ(printable("\033[31mred\007"), "?[31mred?");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "?31m");
  EXPECT_EQ(printable("caf\xe9!"), "caf\xef\xbf\xbd!");
  EXPECT_EQ(printable("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Style, Numbers) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(short_number(0.0012345678), "0.001235");
  EXPECT_EQ(short_number(NAN), "nan");
  EXPECT_EQ(percent(1, 3), "33.3 %");
  EXPECT_EQ(percent(1, 0), "-");
}

TEST(Counters, TotalsAndHotLines) {
  record::LaunchCounters launch;
  launch.kernel = "scale<256>";
  launch.blocks = 1600;
  launch.threads_per_block = 256;
  for (int line = 4; line <= 9; ++line) {
    record::LineCounters at{"scale.cu", line, {}};
    at.values.warp_total = static_cast<uint64_t>(line == 7 ? 0 : 1000 * line);
    at.values.lane_total = at.values.warp_total * 30;
    at.values.warp_instructions[static_cast<size_t>(record::InstClass::Integer)] =
        at.values.warp_total;
    if (line == 5)
      at.values.global_load_requests = 100, at.values.global_load_sectors = 1600,
      at.values.global_load_bytes = 12800;
    if (line == 6)
      at.values.shared_bank_conflicts = 12, at.values.shared_load_requests = 4,
      at.values.shared_load_wavefronts = 16, at.values.shared_load_bytes = 512;
    launch.total += at.values;
    launch.lines.push_back(at);
  }
  launch.lines.push_back({"cuda_fp16.hpp", 12, launch.lines[0].values});
  expect_golden("counters", counters_text({launch}, "scale.cu", kSource, {}, 5));
}

}  // namespace kw::report
