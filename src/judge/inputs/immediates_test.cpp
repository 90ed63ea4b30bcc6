#include "inputs/immediates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>

#include "core/contains.h"
#include "ptx/parse.h"

namespace kw::inputs {
namespace {

constexpr const char* kHead = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .pred %p<4>;
  .reg .b16 %h<4>;
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  .reg .f32 %f<4>;
)";

Immediates read_all(const std::string& ptx) { return immediates_of(ptx::parse(ptx).value()); }

Immediates read(const std::string& body) { return read_all(kHead + body + "  ret;\n}\n"); }

bool holds(const std::vector<double>& values, double value) { return contains(values, value); }

TEST(Immediates, HundredsOfComparisonsHaveRoomAndTheRestIsCounted) {
  std::string body;
  for (int i = 0; i < 300; ++i) body += "  setp.eq.s32 %p1, %r1, " + std::to_string(7 * i) + ";\n";
  const Immediates many = read(body);
  EXPECT_TRUE(contains(many.integers, int64_t{7 * 299}));
  EXPECT_EQ(many.left_out, 0U);
  for (int i = 300; i < 3000; ++i)
    body += "  setp.eq.s32 %p1, %r1, " + std::to_string(7 * i) + ";\n";
  EXPECT_GT(read(body).left_out, 0U);
}

TEST(Immediates, FloatsOfComparisonsComeFirst) {
  const Immediates found = read(
      "  mov.f32 %f3, 0f40400000;\n"                 // 3
      "  setp.eq.f32 %p1, %f1, 0f3FC00000;\n"        // 1.5
      "  fma.rn.f32 %f2, %f1, %f1, 0f3E800000;\n");  // 0.25
  ASSERT_EQ(found.compared_numbers, 1U);
  EXPECT_EQ(found.numbers[0], 1.5);
  EXPECT_TRUE(holds(found.numbers, 3));
  EXPECT_TRUE(holds(found.numbers, 0.25));
}

TEST(Immediates, IntegersMayBeTheBitsOfFloats) {
  const Immediates found = read(
      "  setp.eq.s32 %p1, %r1, 1069547520;\n"  // 0x3fc00000: 1.5
      "  mov.b16 %h1, 0x3E00;\n"               // 1.5 in fp16
      "  setp.ne.s64 %p2, %d1, 123456789012;\n");
  EXPECT_TRUE(holds(found.numbers, 1.5));
  EXPECT_EQ(found.compared_integers, 2U);
  EXPECT_EQ(found.integers[1], 123456789012);
}

TEST(Immediates, VariantsAreMergedComparisonsFirst) {
  Immediates one = read("  setp.eq.f32 %p1, %f1, 0f3FC00000;\n  mov.f32 %f3, 0f40400000;\n");
  merge(read("  setp.eq.f32 %p1, %f1, 0f40000000;\n  mov.f32 %f3, 0f3FC00000;\n"), &one);
  EXPECT_EQ(one.numbers, (std::vector<double>{1.5, 2, 3}));
  EXPECT_EQ(one.compared_numbers, 2U);
}

bool compares_integer(const Immediates& found, int64_t value) {
  const auto end = found.integers.begin() + static_cast<long>(found.compared_integers);
  return std::find(found.integers.begin(), end, value) != end;
}

bool compares_number(const Immediates& found, double value) {
  const auto end = found.numbers.begin() + static_cast<long>(found.compared_numbers);
  return std::find(found.numbers.begin(), end, value) != end;
}

TEST(Immediates, ConstantsReachComparisonsThroughLoopsAndChoices) {
  const Immediates found = read(
      "  mov.f32 %f1, 0fF149F2CA;\n"  // -1e30
      "L:\n  ld.global.f32 %f2, [p];\n"
      "  setp.gt.f32 %p1, %f2, %f1;\n"
      "  selp.f32 %f3, %f2, %f1, %p1;\n"
      "  mov.f32 %f1, %f3;\n"
      "  @%p1 bra L;\n");
  EXPECT_TRUE(compares_number(found, -1e30F)) << "sentinels need not be ordinary";
}

TEST(Immediates, ArithmeticOnConstantsIsEvaluated) {
  const Immediates found = read(
      "  mov.u32 %r1, %ntid.x;\n  shl.b32 %r2, %r1, 4;\n  add.s32 %r3, %r2, 3;\n"
      "  ld.global.u32 %r0, [p];\n  setp.eq.s32 %p1, %r0, %r3;\n");
  EXPECT_TRUE(compares_integer(found, 256 * 16 + 3));
}

TEST(Immediates, SmallTablesAreCompared) {
  const Immediates found = read_all(
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".const .align 4 .b8 table[8] = {219, 15, 73, 64, 5, 0, 0, 0};\n"
      ".visible .entry k(.param .u64 p) {\n  .reg .pred %p<4>;\n  .reg .b32 %r<4>;\n"
      "  .reg .b64 %d<4>;\n"
      "  mov.u64 %d1, table;\n  add.s64 %d2, %d1, %d0;\n  ld.const.u32 %r1, [%d2];\n"
      "  ld.param.u32 %r0, [p];\n  setp.eq.s32 %p1, %r0, %r1;\n  ret;\n}\n");
  EXPECT_TRUE(compares_integer(found, 5));
  EXPECT_TRUE(compares_number(found, std::bit_cast<float>(0x40490fdbU)));
}

TEST(Immediates, SimpleArithmeticBeforeAComparisonIsInverted) {
  const Immediates found = read(
      "  ld.global.f32 %f1, [p];\n  fma.rn.f32 %f2, %f1, 0f40400000, 0f3F800000;\n"
      "  setp.eq.f32 %p1, %f2, 0f41200000;\n"  // 3 x + 1 == 10
      "  mov.b32 %r1, %f1;\n  mul.lo.s32 %r2, %r1, 5;\n"
      "  setp.eq.s32 %p2, %r2, 1042657369;\n"  // 5 * 0x3fa12345
      "  ld.global.u32 %r3, [p];\n  xor.b32 %r0, %r3, 255;\n  setp.eq.s32 %p3, %r0, 1000;\n");
  EXPECT_TRUE(compares_number(found, 3));
  EXPECT_TRUE(compares_number(found, std::bit_cast<float>(0x3fa12345U)));
  EXPECT_TRUE(compares_integer(found, 1000 ^ 255));
}

TEST(Immediates, LoopCountersAreNoConstants) {
  const Immediates found = read(
      "  mov.u32 %r1, 0;\nL:\n  add.s32 %r1, %r1, 77;\n  ld.global.u32 %r2, [p];\n"
      "  setp.lt.s32 %p1, %r1, %r2;\n  @%p1 bra L;\n");
  EXPECT_FALSE(compares_integer(found, 77));
}

}  // namespace
}  // namespace kw::inputs
