#include "open_bits.h"

#include <gtest/gtest.h>

#include "core/text.h"

namespace kw::corpus {
namespace {

struct Text {
  const char* body;
  const char* open;
};
const Text kTexts[] = {
    {"mul.f32 %f1, %f2, %f3; add.f32 %f4, %f1, %f5;", "mul+add contraction"},
    {"mul.f32 %f1, %f2, %f3; sub.ftz.f32 %f4, %f5, %f1;", "mul+add contraction"},
    {"mul.f64 %d1, %d2, %d3; add.f64 %d4, %d1, %d5;", "mul+add contraction"},
    {"mul.rn.f32 %f1, %f2, %f3; add.f32 %f4, %f1, %f5;", ""},
    {"mul.f32 %f1, %f2, %f3; add.rn.f32 %f4, %f1, %f5;", ""},
    {"mul.f32 %f1, %f2, %f3; add.f32 %f4, %f2, %f5;", ""},
    {"mul.f32 %f1, %f2, %f3; add.f32 %f1, %f2, %f5;", ""},
    {"mul.lo.s32 %r1, %r2, %r3; add.s32 %r4, %r1, %r5;", ""},
    {"fma.rn.f32 %f1, %f2, %f3, %f4; add.f32 %f5, %f1, %f2;", ""},
    {"ex2.approx.ftz.f32 %f1, %f2; div.full.f32 %f3, %f1, %f2;", "div.full, ex2.approx"},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, "
     "{%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
     "mma order"},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2};", ""},
};

TEST(OpenBits, AreNamed) {
  for (const Text& text : kTexts) {
    const auto found = open_bits(
        std::string(".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
                    ".reg .f32 %f<9>;\n.reg .f64 %d<9>;\n.reg .b32 %r<9>;\n") +
        text.body + "\nret;\n}\n");
    EXPECT_EQ(join({found.begin(), found.end()}, ", "), text.open) << text.body;
  }
  EXPECT_TRUE(open_bits("no PTX").empty());
}

}  // namespace
}  // namespace kw::corpus
