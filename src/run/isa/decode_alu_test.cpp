// Which instructions are supported, how operands are described to the machine, and what is refused
// by name.
#include <gtest/gtest.h>

#include "isa/bench_test.h"

namespace kw::isa {
namespace {

// One of every form that compilers emit or inline assembly uses. Other tests check the values.
const char* const kForms[] = {
    "add.s32 %r0, %r1, 5;",
    "add.u64 %d0, %d1, %d2;",
    "add.sat.s32 %r0, %r1, %r2;",
    "add.u16x2 %r0, %r1, %r2;",
    "add.cc.u32 %r0, %r1, %r2;",
    "addc.cc.u64 %d0, %d1, %d2;",
    "addc.s32 %r0, %r1, %r2;",
    "sub.cc.s64 %d0, %d1, %d2;",
    "subc.u32 %r0, %r1, %r2;",
    "mad.lo.cc.u32 %r0, %r1, %r2, %r3;",
    "madc.hi.cc.u64 %d0, %d1, %d2, %d3;",
    "madc.lo.s32 %r0, %r1, %r2, %r3;",
    "mul.wide.u16 %r0, %h1, %h2;",
    "mul.wide.s32 %d0, %r1, 4;",
    "mad.wide.u32 %d0, %r1, %r2, %d3;",
    "mad.hi.sat.s32 %r0, %r1, %r2, %r3;",
    "mul24.lo.s32 %r0, %r1, %r2;",
    "rem.u32 %r0, %r1, %r2;",
    "div.s64 %d0, %d1, %d2;",
    "sad.u16 %h0, %h1, %h2, %h3;",
    "min.s16x2 %r0, %r1, %r2;",
    "max.s32.relu %r0, %r1, %r2;",
    "max.relu.s16x2 %r0, %r1, %r2;",
    "popc.b64 %r0, %d1;",
    "clz.b32 %r0, %r1;",
    "bfind.shiftamt.s64 %r0, %d1;",
    "brev.b64 %d0, %d1;",
    "fns.b32 %r0, %r1, %r2, %r3;",
    "bfe.s64 %d0, %d1, %r2, 4;",
    "bfi.b32 %r0, %r1, %r2, 8, 8;",
    "bmsk.clamp.b32 %r0, %r1, %r2;",
    "szext.wrap.s32 %r0, %r1, %r2;",
    "dp4a.s32.u32 %r0, %r1, %r2, %r3;",
    "dp2a.hi.u32.u32 %r0, %r1, %r2, %r3;",
    "and.b16 %h0, %h1, %h2;",
    "xor.pred %p0, %p1, !%p2;",
    "not.pred %p0, %p1;",
    "not.b64 %d0, %d1;",
    "cnot.b32 %r0, %r1;",
    "lop3.b32 %r0, %r1, %r2, %r3, 0xe8;",
    "lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x96, %p1;",
    "lop3.and.b32 _|%p0, %r1, %r2, %r3, 0x96, !%p1;",
    "shf.l.wrap.b32 %r0, %r1, %r2, 3;",
    "shf.r.clamp.b32 %r0, %r1, %r2, %r3;",
    "shl.b64 %d0, %d1, 3;",
    "shr.s16 %h0, %h1, %r2;",
    "shr.u32 %r0, %r1, 31;",
    "prmt.b32 %r0, %r1, %r2, 0x5410;",
    "prmt.b32.rc16 %r0, %r1, %r2, %r3;",
    "add.f32 %r0, %r1, %r2;",
    "add.rz.ftz.sat.f32 %r0, %r1, %r2;",
    "sub.rp.f64 %d0, %d1, %d2;",
    "mul.ftz.f32 %r0, %r1, 0f40000000;",
    "fma.rn.f32 %r0, %r1, %r2, %r3;",
    "fma.rm.ftz.sat.f32 %r0, %r1, %r2, %r3;",
    "mad.rn.f32 %r0, %r1, %r2, %r3;",
    "fma.rz.f64 %d0, %d1, %d2, %d3;",
    "div.rn.f32 %r0, %r1, %r2;",
    "div.approx.ftz.f32 %r0, %r1, %r2;",
    "div.full.f32 %r0, %r1, %r2;",
    "div.rp.f64 %d0, %d1, %d2;",
    "rcp.approx.f32 %r0, %r1;",
    "rcp.rz.ftz.f32 %r0, %r1;",
    "rcp.approx.ftz.f64 %d0, %d1;",
    "sqrt.rn.f64 %d0, %d1;",
    "sqrt.approx.ftz.f32 %r0, %r1;",
    "rsqrt.approx.f64 %d0, %d1;",
    "rsqrt.approx.ftz.f64 %d0, %d1;",
    "sin.approx.f32 %r0, %r1;",
    "cos.approx.ftz.f32 %r0, %r1;",
    "lg2.approx.f32 %r0, %r1;",
    "ex2.approx.ftz.f32 %r0, %r1;",
    "ex2.approx.f16x2 %r0, %r1;",
    "ex2.approx.ftz.bf16 %h0, %h1;",
    "tanh.approx.f32 %r0, %r1;",
    "tanh.approx.bf16x2 %r0, %r1;",
    "min.f32 %r0, %r1, %r2;",
    "max.ftz.NaN.xorsign.abs.f32 %r0, %r1, %r2;",
    "min.f32 %r0, %r1, %r2, %r3;",
    "max.NaN.f16x2 %r0, %r1, %r2;",
    "abs.ftz.f32 %r0, %r1;",
    "neg.bf16x2 %r0, %r1;",
    "copysign.f64 %d0, %d1, %d2;",
    "testp.subnormal.f32 %p0, %r1;",
    "fma.rn.ftz.relu.f16x2 %r0, %r1, %r2, %r3;",
    "fma.rn.bf16x2 %r0, %r1, %r2, %r3;",
    "add.rn.bf16 %h0, %h1, %h2;",
    "mul.sat.f16 %h0, %h1, %h2;",
    "sub.ftz.f16x2 %r0, %r1, %r2;",
    "add.rn.f32.f16 %r0, %h1, %r2;",
    "fma.rz.sat.f32.bf16 %r0, %h1, %h2, %r3;",
    "fma.rn.f32x2 %d0, %d1, %d2, %d3;",
    "add.rz.ftz.f32x2 %d0, %d1, %d2;",
    "setp.lt.s32 %p0, %r1, %r2;",
    "setp.hs.u64 %p0, %d1, %d2;",
    "setp.ne.b16 %p0, %h1, 0;",
    "setp.geu.ftz.f32 %p0, %r1, %r2;",
    "setp.nan.f64 %p0, %d1, %d2;",
    "setp.eq.and.s32 %p0|%p1, %r1, %r2, !%p2;",
    "setp.lt.f16x2 %p0|%p1, %r1, %r2;",
    "setp.gt.bf16 %p0, %h1, %h2;",
    "set.gt.u32.f32 %r0, %r1, %r2;",
    "set.le.ftz.f16x2.f16x2 %r0, %r1, %r2;",
    "set.ne.xor.f32.s32 %r0, %r1, %r2, %p0;",
    "set.nan.bf16.bf16 %h0, %h1, %h2;",
    "set.eq.u16.f16 %h0, %h1, %h2;",
    "selp.b32 %r0, %r1, 7, %p0;",
    "selp.f64 %d0, %d1, %d2, !%p0;",
    "slct.u64.f32 %d0, %d1, %d2, %r3;",
    "slct.ftz.f32.f32 %r0, %r1, %r2, %r3;",
    "mov.u32 %r0, %tid.x;",
    "mov.b64 %d0, {%r1, %r2};",
    "mov.b64 {%r0, _}, %d1;",
    "mov.b32 {%h0, %h1}, %r2;",
    "mov.b64 {%h0, %h1, %h2, %h3}, %d4;",
    "mov.b32 %r0, {%b0, %b1, %b2, %b3};",
    "mov.b16 {%b0, %b1}, %h0;",
    "mov.b128 %q0, {%d0, %d1};",
    "mov.b128 {%d0, %d1}, %q0;",
    "mov.pred %p0, !%p1;",
    "mov.f32 %r0, 0f3F800000;",
    "cvt.u32.u16 %r0, %h1;",
    "cvt.s64.s32 %d0, %r1;",
    "cvt.u16.u32 %h0, %r1;",
    "cvt.u8.u32 %h0, %r1;",
    "cvt.s8.s32 %r0, %r1;",
    "cvt.sat.u8.s32 %r0, %r1;",
    "cvt.u64.u8 %d0, %r1;",
    "cvt.rn.f32.s32 %r0, %r1;",
    "cvt.rz.f32.u64 %r0, %d1;",
    "cvt.rn.f64.s64 %d0, %d1;",
    "cvt.rzi.s32.f32 %r0, %r1;",
    "cvt.rni.ftz.u64.f32 %d0, %r1;",
    "cvt.rpi.s16.f16 %h0, %h1;",
    "cvt.rmi.f32.f32 %r0, %r1;",
    "cvt.rni.bf16.bf16 %h0, %h1;",
    "cvt.f32.f16 %r0, %h1;",
    "cvt.f32.bf16 %r0, %h1;",
    "cvt.f64.f32 %d0, %r1;",
    "cvt.rn.f32.f64 %r0, %d1;",
    "cvt.rm.ftz.f32.f64 %r0, %d1;",
    "cvt.rn.f16.f32 %h0, %r1;",
    "cvt.rz.relu.satfinite.bf16.f32 %h0, %r1;",
    "cvt.sat.f32.f32 %r0, %r1;",
    "cvt.rn.f16x2.f32 %r0, %r1, %r2;",
    "cvt.rz.relu.bf16x2.f32 %r0, %r1, %r2;",
    "cvt.rna.tf32.f32 %r0, %r1;",
    "cvt.rn.satfinite.e4m3x2.f32 %h0, %r1, %r2;",
    "cvt.rn.satfinite.relu.e5m2x2.f16x2 %h0, %r1;",
    "cvt.rn.f16x2.e4m3x2 %r0, %h1;",
    "cvt.rn.satfinite.e2m1x2.f32 %b0, %r1, %r2;",
    "cvt.rn.f16x2.e2m1x2 %r0, %b1;",
    "cvt.rp.satfinite.ue8m0x2.f32 %h0, %r1, %r2;",
    "cvt.rz.ue8m0x2.bf16x2 %h0, %r1;",
    "cvt.rn.bf16x2.ue8m0x2 %r0, %h1;",
    "cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, 0;",
    "cvt.pack.sat.s16.s32 %r0, %r1, %r2;",
    "cvt.rn.bf16.f16 %h0, %h1;",
};

class Decodes : public testing::TestWithParam<const char*> {};
TEST_P(Decodes, Form) {
  const auto alu = decode_instruction(GetParam());
  ASSERT_TRUE(alu) << alu.error().message;
  EXPECT_NE(alu->fn, nullptr);
  EXPECT_GE(alu->dsts, 1);
}
INSTANTIATE_TEST_SUITE_P(All, Decodes, testing::ValuesIn(kForms));

struct Refused {
  const char* text;
  const char* message;
};
const Refused kRefused[] = {
    {"add.f32.foo %r0, %r1, %r2;", "unknown modifier .foo"},
    {"add.s32 %r0, %r1;", "2 operands where 3 belong"},
    {"add.s32 %d0, %r1, %r2;", "register of 64 bits where 32 belong"},
    {"add.s32 5, %r1, %r2;", "destination is not a register"},
    {"add.s32 %r0, _, %r2;", "'_' as a source"},
    {"div.f32 %r0, %r1, %r2;", "a rounding mode, .approx or .full must be given"},
    {"cvt.f32.s32 %r0, %r1;", "a rounding mode is missing"},
    {"cvt.s32.f32 %r0, %r1;", "integer rounding"},
    {"cvt.rn.satfinite.e4m3x2.f64 %h0, %d1;",
     "unsupported instruction cvt.rn.satfinite.e4m3x2.f64"},
    {"setp.lt.b32 %p0, %r1, %r2;", "untyped bits have no order"},
    {"lop3.b32 %r0, %r1, %r2, %r3, %r4;", "the table must be a constant from 0 to 255"},
    {"mul.s32 %r0, %r1, %r2;", "unsupported instruction mul.s32"},
    {"and.f32 %r0, %r1, %r2;", "unsupported instruction and.f32"},
    {"cvt.u32.u16 %h0, %h1;", "register narrower than its type"},
    {"mov.b64 {%r0, %r1, %r2}, %d0;", "unsupported instruction mov.b64"},
    {"sin.f32 %r0, %r1;", ".approx is missing"},
};
TEST(Decode, RefusesByName) {
  for (const Refused& refused : kRefused) {
    const auto alu = decode_instruction(refused.text);
    ASSERT_FALSE(alu) << refused.text;
    EXPECT_EQ(alu.error().blame, Blame::Input);
    EXPECT_NE(alu.error().message.find(refused.message), std::string::npos) << alu.error().message;
  }
}

TEST(Decode, DescribesOperands) {
  const Alu wide = decode_instruction("mad.wide.u32 %d0, %r1, 7, %d3;").value();
  EXPECT_EQ(wide.dsts, 1);
  EXPECT_EQ(wide.srcs, 3);
  EXPECT_EQ(wide.dst[0].width, 8);
  EXPECT_EQ(wide.src[1].width, 4);
  EXPECT_EQ(wide.src[1].type, ptx::Type::U32);
  EXPECT_EQ(wide.src[2].width, 8);
  const Alu shift = decode_instruction("shl.b64 %d0, %d1, 3;").value();
  EXPECT_EQ(shift.src[1].width, 4);
  EXPECT_EQ(shift.taint, TaintRule::Shift);
  const Alu carry = decode_instruction("addc.cc.u32 %r0, %r1, %r2;").value();
  EXPECT_TRUE(carry.reads_carry && carry.writes_carry);
  const Alu table = decode_instruction("lop3.b32 %r0, %r1, %r2, %r3, 0xe8;").value();
  EXPECT_EQ(table.folded, 3);
  EXPECT_EQ(table.srcs, 3);
  EXPECT_EQ(table.aux, 0xe8u);
  const Alu compare = decode_instruction("setp.eq.and.s32 %p0|%p1, %r1, %r2, !%p2;").value();
  EXPECT_EQ(compare.dsts, 2);
  EXPECT_EQ(compare.dst[0].width, 0);
  EXPECT_EQ(compare.src[2].width, 0);
}

struct Counted {
  const char* text;
  AluClass cls;
  int flops;
};
TEST(Decode, ClassesAndFlops) {
  const Counted cases[] = {
      {"add.s32 %r0, %r1, %r2;", AluClass::Integer, 0},
      {"add.f32 %r0, %r1, %r2;", AluClass::Float32, 1},
      {"fma.rn.f32 %r0, %r1, %r2, %r3;", AluClass::Float32, 2},
      {"fma.rz.f64 %d0, %d1, %d2, %d3;", AluClass::Float64, 2},
      {"fma.rn.f16x2 %r0, %r1, %r2, %r3;", AluClass::Float16, 4},
      {"mul.bf16 %h0, %h1, %h2;", AluClass::Float16, 1},
      {"ex2.approx.f32 %r0, %r1;", AluClass::Special, 1},
      {"div.rn.f32 %r0, %r1, %r2;", AluClass::Float32, 1},
      {"mov.u32 %r0, %r1;", AluClass::Move, 0},
      {"cvt.rn.f16.f32 %h0, %r1;", AluClass::Convert, 0},
      {"and.pred %p0, %p1, %p2;", AluClass::Predicate, 0},
      {"setp.lt.f32 %p0, %r1, %r2;", AluClass::Float32, 0},
      {"fma.rn.f32x2 %d0, %d1, %d2, %d3;", AluClass::Float32, 4},
  };
  for (const Counted& c : cases) {
    const auto alu = decode_instruction(c.text);
    ASSERT_TRUE(alu) << alu.error().message;
    EXPECT_EQ(alu->cls, c.cls) << c.text;
    EXPECT_EQ(alu->flops, c.flops) << c.text;
  }
}

TEST(Decode, TaintRules) {
  EXPECT_EQ(decode_instruction("and.b32 %r0, %r1, %r2;")->taint, TaintRule::BitAnd);
  EXPECT_EQ(decode_instruction("or.b32 %r0, %r1, %r2;")->taint, TaintRule::BitOr);
  EXPECT_EQ(decode_instruction("not.b32 %r0, %r1;")->taint, TaintRule::BitXor);
  EXPECT_EQ(decode_instruction("mov.b64 {%r0, %r1}, %d2;")->taint, TaintRule::Copy);
  EXPECT_EQ(decode_instruction("cvt.u16.u32 %h0, %r1;")->taint, TaintRule::Copy);
  EXPECT_EQ(decode_instruction("cvt.sat.u8.s32 %r0, %r1;")->taint, TaintRule::AnyToAll);
  EXPECT_EQ(decode_instruction("selp.b32 %r0, %r1, %r2, %p0;")->taint, TaintRule::Select);
  EXPECT_EQ(decode_instruction("add.s32 %r0, %r1, %r2;")->taint, TaintRule::AnyToAll);
}

TEST(Decode, KnowsItsOpcodes) {
  ptx::Instruction instruction;
  for (const char* mine : {"add", "cvt", "setp", "mov", "lop3", "tanh"}) {
    instruction.opcode = mine;
    EXPECT_TRUE(is_alu(instruction)) << mine;
  }
  for (const char* other : {"ld", "st", "bra", "shfl", "cvta", "atom", "vadd4", ""}) {
    instruction.opcode = other;
    EXPECT_FALSE(is_alu(instruction)) << other;
  }
}

TEST(Decode, EveryLevelHasTheSameRows) {
  const auto first = row_names(Level::V2);
  EXPECT_EQ(first, row_names(Level::V3));
  EXPECT_EQ(first, row_names(Level::V4));
  EXPECT_GT(first.size(), 900u);
}

}  // namespace
}  // namespace kw::isa
