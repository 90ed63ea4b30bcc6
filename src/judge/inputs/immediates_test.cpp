#include "inputs/immediates.h"

#include <gtest/gtest.h>

#include <string>

#include "core/contains.h"

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

Immediates read(const std::string& body) { return immediates_of(kHead + body + "  ret;\n}\n"); }

bool holds(const std::vector<double>& values, double value) { return contains(values, value); }

TEST(Immediates, FloatsOfComparisonsComeFirst) {
  const Immediates found = read(
      "  mov.f32 %f1, 0f40400000;\n"                 // 3
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

TEST(Immediates, TextThatDoesNotParseHasNone) {
  EXPECT_TRUE(immediates_of("not PTX").numbers.empty());
}

TEST(Immediates, VariantsAreMergedComparisonsFirst) {
  Immediates one = read("  setp.eq.f32 %p1, %f1, 0f3FC00000;\n  mov.f32 %f1, 0f40400000;\n");
  merge(read("  setp.eq.f32 %p1, %f1, 0f40000000;\n  mov.f32 %f1, 0f3FC00000;\n"), &one);
  EXPECT_EQ(one.numbers, (std::vector<double>{1.5, 2, 3}));
  EXPECT_EQ(one.compared_numbers, 2U);
}

}  // namespace
}  // namespace kw::inputs
