// Edge values, written by hand from the ISA: NaN, infinities, signed zeros, subnormals, limits.
#include <gtest/gtest.h>

#include "isa/bench_test.h"

namespace kw::isa {
namespace {

struct Edge {
  const char* text;
  std::vector<uint64_t> sources;
  std::vector<uint64_t> want;
};

constexpr uint64_t kInf = 0x7f800000, kNegInf = 0xff800000, kNan = 0x7fffffff, kOne = 0x3f800000,
                   kNegZero = 0x80000000;
constexpr uint64_t kMax = 0x7f7fffff, kTiny = 0x00000001, kMinNormal = 0x00800000;

const Edge kFloatEdges[] = {
    {"add.f32 %r0, %r1, %r2;", {kInf, kNegInf}, {kNan}},
    {"add.f32 %r0, %r1, %r2;", {0x7f800001, kOne}, {kNan}},
    {"add.f32 %r0, %r1, %r2;", {0xffc12345, kOne}, {kNan}},
    {"add.f32 %r0, %r1, %r2;", {kOne, 0xbf800000}, {0}},
    {"add.rm.f32 %r0, %r1, %r2;", {kOne, 0xbf800000}, {kNegZero}},
    {"add.rz.f32 %r0, %r1, %r2;", {kMax, kMax}, {kMax}},
    {"add.rp.f32 %r0, %r1, %r2;", {kOne, kTiny}, {0x3f800001}},
    {"add.ftz.f32 %r0, %r1, %r2;", {kTiny, kTiny}, {0}},
    {"add.f32 %r0, %r1, %r2;", {kTiny, kTiny}, {2}},
    {"add.sat.f32 %r0, %r1, %r2;", {kOne, kOne}, {kOne}},
    {"add.sat.f32 %r0, %r1, %r2;", {kInf, kNegInf}, {0}},
    {"mul.f32 %r0, %r1, %r2;", {0, kInf}, {kNan}},
    {"mul.f32 %r0, %r1, %r2;", {kMinNormal, 0x3f000000}, {0x00400000}},
    {"mul.ftz.f32 %r0, %r1, %r2;", {kMinNormal, 0xbf000000}, {kNegZero}},
    // Flushed: the result is below the smallest normal number after rounding to 24 bits with any
    // exponent. A subnormal has so few bits that rounding would raise it.
    {"mul.f32 %r0, %r1, %r2;", {0x3f7fffff, kMinNormal}, {kMinNormal}},
    {"mul.ftz.f32 %r0, %r1, %r2;", {0x3f7fffff, kMinNormal}, {0}},
    {"mul.ftz.sat.f32 %r0, %r1, %r2;", {0x80800000, 0xbf7fffff}, {0}},
    {"mul.rp.ftz.f32 %r0, %r1, %r2;", {0x3f7fffff, kMinNormal}, {0}},
    {"fma.rn.ftz.f32 %r0, %r1, %r2, %r3;", {0xbf7fffff, kMinNormal, kNegZero}, {kNegZero}},
    {"div.rm.ftz.f32 %r0, %r1, %r2;", {0x80800000, 0x3f800001}, {kNegZero}},
    // (1 + 2^-23) * (2 - 2^-22) * 2^-127: 2 - 2^-45, which rounds up at 24 bits and as a subnormal.
    {"mul.ftz.f32 %r0, %r1, %r2;", {0x1f800001, 0x207ffffe}, {kMinNormal}},
    {"mul.rz.ftz.f32 %r0, %r1, %r2;", {0x1f800001, 0x207ffffe}, {0}},
    {"fma.rn.f32 %r0, %r1, %r2, %r3;", {0x3f800001, 0x3f800001, 0xbf800002}, {0x28800000}},
    {"div.rn.f32 %r0, %r1, %r2;", {kOne, 0}, {kInf}},
    {"div.rn.f32 %r0, %r1, %r2;", {kOne, kNegZero}, {kNegInf}},
    {"div.rn.f32 %r0, %r1, %r2;", {0, 0}, {kNan}},
    {"div.approx.f32 %r0, %r1, %r2;", {kOne, 0x7f000000}, {0}},
    {"div.approx.f32 %r0, %r1, %r2;", {kInf, 0x7f000000}, {kNan}},
    {"div.full.f32 %r0, %r1, %r2;", {kOne, 0x7f000000}, {0x00400000}},
    {"rcp.approx.ftz.f32 %r0, %r1;", {kTiny}, {kInf}},
    {"rcp.approx.ftz.f32 %r0, %r1;", {0x80000001}, {kNegInf}},
    {"rcp.approx.ftz.f32 %r0, %r1;", {0x7f000000}, {0}},
    {"rcp.rn.f32 %r0, %r1;", {kNegInf}, {kNegZero}},
    {"sqrt.rn.f32 %r0, %r1;", {kNegZero}, {kNegZero}},
    {"sqrt.rn.f32 %r0, %r1;", {0xbf800000}, {kNan}},
    {"sqrt.approx.ftz.f32 %r0, %r1;", {0x80000001}, {kNegZero}},
    {"rsqrt.approx.f32 %r0, %r1;", {kNegZero}, {kNegInf}},
    {"rsqrt.approx.ftz.f32 %r0, %r1;", {kTiny}, {kInf}},
    {"rsqrt.approx.f32 %r0, %r1;", {kInf}, {0}},
    {"ex2.approx.ftz.f32 %r0, %r1;", {0xc2fe0000}, {0}},  // 2^-127
    {"ex2.approx.f32 %r0, %r1;", {0xc2fe0000}, {0x00400000}},
    {"ex2.approx.f32 %r0, %r1;", {kNegInf}, {0}},
    {"lg2.approx.f32 %r0, %r1;", {kTiny}, {0xc3150000}},  // -149
    {"lg2.approx.ftz.f32 %r0, %r1;", {kTiny}, {kNegInf}},
    {"lg2.approx.f32 %r0, %r1;", {0xbf800000}, {kNan}},
    {"sin.approx.f32 %r0, %r1;", {kNegZero}, {kNegZero}},
    {"sin.approx.ftz.f32 %r0, %r1;", {0x80000001}, {kNegZero}},
    {"sin.approx.f32 %r0, %r1;", {kInf}, {kNan}},
    {"cos.approx.f32 %r0, %r1;", {kTiny}, {kOne}},
    {"tanh.approx.f32 %r0, %r1;", {kNegInf}, {0xbf800000}},
    {"min.f32 %r0, %r1, %r2;", {kNan, kOne}, {kOne}},
    {"min.NaN.f32 %r0, %r1, %r2;", {kNan, kOne}, {kNan}},
    {"min.f32 %r0, %r1, %r2;", {0, kNegZero}, {kNegZero}},
    {"max.f32 %r0, %r1, %r2;", {kNegZero, 0}, {0}},
    {"max.xorsign.abs.f32 %r0, %r1, %r2;", {0xbf800000, 0x40000000}, {0xc0000000}},
    {"min.f32 %r0, %r1, %r2;", {0x7fc00000, 0xffc00000}, {kNan}},
    {"copysign.f32 %r0, %r1, %r2;", {kNegZero, kOne}, {0xbf800000}},
    {"neg.f32 %r0, %r1;", {0x7f800001}, {kNan}},
    {"abs.ftz.f32 %r0, %r1;", {0xffc00000}, {kNan}},
    {"testp.normal.f32 %p0, %r1;", {kNegZero}, {1}},
    {"testp.normal.f32 %p0, %r1;", {kTiny}, {0}},
};

const Edge kDoubleEdges[] = {
    {"add.f64 %d0, %d1, %d2;", {0x7ff0000000000001, 0x3ff0000000000000}, {0x7ff8000000000001}},
    {"add.f64 %d0, %d1, %d2;", {0x7ff0000000000000, 0xfff0000000000000}, {0xfff8000000000000}},
    {"min.f64 %d0, %d1, %d2;", {0x7ff8000000000000, 0x3ff0000000000000}, {0x3ff0000000000000}},
    // Of two NaN an H200 returns the second; in fma the second, third, first; in div the first.
    {"min.f64 %d0, %d1, %d2;", {0x7fffffffffffffff, 0x7ff8000000000000}, {0x7ff8000000000000}},
    {"sub.f64 %d0, %d1, %d2;", {0x7ff0000000000001, 0xfff0000000000001}, {0xfff8000000000001}},
    {"fma.rn.f64 %d0, %d1, %d2, %d3;",
     {0xfff8000000000001, 0, 0x7ff8000000000003},
     {0x7ff8000000000003}},
    {"fma.rn.f64 %d0, %d1, %d2, %d3;",
     {0, 0xfff8000000000002, 0x7ff8000000000003},
     {0xfff8000000000002}},
    {"div.rn.f64 %d0, %d1, %d2;", {0xfff0000000000001, 0x7fffffffffffffff}, {0xfff8000000000001}},
    {"neg.f64 %d0, %d1;", {0xfff0000000000001}, {0xfff8000000000001}},
    {"mul.rp.f64 %d0, %d1, %d2;", {1, 1}, {1}},
    {"mul.rz.f64 %d0, %d1, %d2;", {1, 1}, {0}},
    {"rcp.approx.ftz.f64 %d0, %d1;", {0x3ff00000ffffffff}, {0x3ff0000000000000}},
    {"rcp.approx.ftz.f64 %d0, %d1;", {0x8000000000000001}, {0xfff0000000000000}},
    {"rcp.approx.ftz.f64 %d0, %d1;", {0xfff0000000000001}, {0x8000000000000000}},
    {"rsqrt.approx.ftz.f64 %d0, %d1;", {0x7ff0000000000001}, {0}},
    {"rsqrt.approx.ftz.f64 %d0, %d1;", {0x4010000000000000}, {0x3fe0000000000000}},
};

const Edge kHalfEdges[] = {
    {"add.f16 %h0, %h1, %h2;", {0x7bff, 0x7bff}, {0x7c00}},
    {"add.f16 %h0, %h1, %h2;", {0x7e01, 0x3c00}, {0x7fff}},
    {"add.ftz.f16 %h0, %h1, %h2;", {0x0001, 0x0001}, {0}},
    // The first product fits 11 bits and is just below the smallest normal number; it is flushed
    // before a subnormal's rounding. The second rounds up to it at 11 bits already.
    {"mul.ftz.f16 %h0, %h1, %h2;", {0x0400, 0xbbff}, {0x8000}},
    {"mul.ftz.sat.f16 %h0, %h1, %h2;", {0x9380, 0xac44}, {0x0400}},
    {"mul.ftz.f16 %h0, %h1, %h2;", {0x9380, 0x2c44}, {0x8400}},
    {"fma.rn.ftz.f16 %h0, %h1, %h2, %h3;", {0x0400, 0x3bff, 0x0000}, {0}},
    {"mul.f16 %h0, %h1, %h2;", {0x0400, 0xbbff}, {0x8400}},
    {"neg.bf16 %h0, %h1;", {0xffc0}, {0x7fff}},
    {"abs.f16x2 %r0, %r1;", {0x7c01bc00}, {0x7fff3c00}},
    {"mul.sat.f16 %h0, %h1, %h2;", {0xfe00, 0x3c00}, {0}},
    {"fma.rn.relu.f16 %h0, %h1, %h2, %h3;", {0xbc00, 0x3c00, 0x0000}, {0}},
    {"fma.rn.relu.f16 %h0, %h1, %h2, %h3;", {0x7e00, 0x3c00, 0x0000}, {0x7fff}},
    // 1 + 2^-11 + 2^-25: above a tie of f16 by a bit that binary32 would lose.
    {"fma.rn.f16 %h0, %h1, %h2, %h3;", {0x2888, 0x2310, 0x3c00}, {0x3c01}},
    {"fma.rn.bf16 %h0, %h1, %h2, %h3;", {0x3b80, 0x3f80, 0x3f80}, {0x3f80}},
    {"fma.rn.bf16 %h0, %h1, %h2, %h3;", {0x3b81, 0x3f80, 0x3f80}, {0x3f81}},
    {"add.bf16 %h0, %h1, %h2;", {0x7f7f, 0x7f7f}, {0x7f80}},
    {"max.f16x2 %r0, %r1, %r2;", {0x7e003c00, 0xc0004000}, {0xc0004000}},
    {"neg.f16x2 %r0, %r1;", {0x3c00bc00}, {0xbc003c00}},
    {"tanh.approx.f16x2 %r0, %r1;", {0x7c00fc00}, {0x3c00bc00}},
    {"ex2.approx.f16 %h0, %h1;", {0xcc00}, {0x0100}},  // 2^-16
    {"ex2.approx.ftz.bf16 %h0, %h1;", {0xc300}, {0}},  // 2^-128
    {"set.eq.f16x2.f16x2 %r0, %r1, %r2;", {0x3c007e00, 0x3c007e00}, {0x3c000000}},
};

const Edge kConvertEdges[] = {
    {"cvt.rzi.s32.f32 %r0, %r1;", {kInf}, {0x7fffffff}},
    {"cvt.rzi.s32.f32 %r0, %r1;", {kNegInf}, {0x80000000}},
    {"cvt.rzi.s32.f32 %r0, %r1;", {kNan}, {0}},
    {"cvt.rzi.u32.f32 %r0, %r1;", {0xbf800000}, {0}},
    {"cvt.rzi.s64.f32 %d0, %r1;", {kNan}, {0x8000000000000000}},
    {"cvt.rzi.s32.f64 %r0, %d1;", {0x7ff8000000000000}, {0x80000000}},
    {"cvt.rni.s32.f32 %r0, %r1;", {0x40200000}, {2}},  // 2.5
    {"cvt.rpi.s32.f32 %r0, %r1;", {kTiny}, {1}},
    {"cvt.rpi.ftz.s32.f32 %r0, %r1;", {kTiny}, {0}},
    {"cvt.rzi.u8.f32 %r0, %r1;", {0x43800000}, {0xff}},  // 256
    {"cvt.rzi.s8.f32 %r0, %r1;", {0xc3800000}, {0xffffff80}},
    {"cvt.rn.f32.u64 %r0, %d1;", {0xffffffffffffffff}, {0x5f800000}},
    {"cvt.rz.f32.u64 %r0, %d1;", {0xffffffffffffffff}, {0x5f7fffff}},
    {"cvt.rn.f16.f32 %h0, %r1;", {0x477ff000}, {0x7c00}},  // 65520
    {"cvt.rz.f16.f32 %h0, %r1;", {kMax}, {0x7bff}},
    {"cvt.rn.satfinite.f16.f32 %h0, %r1;", {kInf}, {0x7bff}},
    {"cvt.rn.relu.bf16.f32 %h0, %r1;", {0xbf800000}, {0}},
    {"cvt.f32.f16 %r0, %h1;", {0x7e00}, {kNan}},
    {"cvt.f32.f16 %r0, %h1;", {0x0001}, {0x33800000}},
    {"cvt.sat.f32.f32 %r0, %r1;", {kNan}, {0}},
    {"cvt.rni.f32.f32 %r0, %r1;", {0xbf000000}, {kNegZero}},  // -0.5
    {"cvt.s32.s8 %r0, %r1;", {0x12345680}, {0xffffff80}},
    {"cvt.u32.u8 %r0, %r1;", {0x12345680}, {0x80}},
    {"cvt.u8.u32 %r0, %r1;", {0x12345680}, {0x80}},
    {"cvt.s8.u32 %h0, %r1;", {0x12345680}, {0xff80}},
    {"cvt.sat.u8.s32 %r0, %r1;", {0xffffffff}, {0}},
    {"cvt.rn.satfinite.e4m3x2.f32 %h0, %r1, %r2;",
     {0x44000000, kNan},
     {0x7e7f}},  // 512 is beyond 448
    {"cvt.rn.satfinite.e5m2x2.f32 %h0, %r1, %r2;", {kNegInf, 0x37800000}, {0xfb01}},
    {"cvt.rn.f16x2.e4m3x2 %r0, %h1;", {0x7f38}, {0x7fff3c00}},
    {"cvt.rna.tf32.f32 %r0, %r1;", {0x3f801000}, {0x3f802000}},
    {"cvt.rn.tf32.f32 %r0, %r1;", {0x3f801000}, {0x3f800000}},
    {"cvt.rn.tf32.f32 %r0, %r1;", {0xff800001}, {0x7fffe000}},
    {"cvt.rna.tf32.f32 %r0, %r1;", {0xffffffff}, {0xffffe000}},
    {"cvt.rna.satfinite.tf32.f32 %r0, %r1;", {0x7fc00000}, {0x7fbfe000}},
    {"cvt.rna.satfinite.tf32.f32 %r0, %r1;", {kNegInf}, {0xff7fe000}},
    {"cvt.rp.ftz.f16.f32 %h0, %r1;", {kTiny}, {1}},
    {"cvt.rm.f32.f64 %r0, %d1;", {0x7ff9c28bd6370edb}, {0x7fce145e}},
    {"cvt.rn.f16.f64 %h0, %d1;", {0xfff0000000000001}, {0xfe00}},
    {"cvt.rz.bf16.f64 %h0, %d1;", {0x7ff0000000000001}, {0x7fc0}},
    {"cvt.f32.bf16 %r0, %h1;", {0x7f81}, {0x7f810000}},
    {"cvt.f32.f32 %r0, %r1;", {0xff800001}, {0xff800001}},
    {"cvt.ftz.f32.f32 %r0, %r1;", {0xff800001}, {kNan}},
    {"cvt.f64.f64 %d0, %d1;", {0x7ff0000000000001}, {0x7ff0000000000001}},
    {"cvt.ftz.f64.f32 %d0, %r1;", {0x7f800001}, {0x7fffffffe0000000}},
    {"cvt.rn.satfinite.e2m1x2.f32 %b0, %r1, %r2;", {0x40a00000, kNan}, {0x67}},  // 5 is a tie
    {"cvt.rp.satfinite.ue8m0x2.f32 %h0, %r1, %r2;", {0x40400000, 0}, {0x8100}},
    {"cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, 0x1234;", {300, 0xffffffff}, {0x1234ff00}},
};

const Edge kIntegerEdges[] = {
    {"div.s32 %r0, %r1, %r2;", {0x80000000, 0xffffffff}, {0x80000000}},
    {"rem.s64 %d0, %d1, %d2;", {0x8000000000000000, 0xffffffffffffffff}, {0}},
    {"div.u32 %r0, %r1, %r2;", {7, 0}, {0xffffffff}},
    {"rem.u32 %r0, %r1, %r2;", {7, 0}, {0xffffffff}},
    {"abs.s32 %r0, %r1;", {0x80000000}, {0x80000000}},
    {"shl.b32 %r0, %r1, %r2;", {1, 32}, {0}},
    {"shr.s32 %r0, %r1, %r2;", {0x80000000, 0xffffffff}, {0xffffffff}},
    {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", {0x80000000, 1, 33}, {3}},
    {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", {5, 7, 99}, {7}},
    {"bfe.s32 %r0, %r1, %r2, %r3;", {0x80000000, 31, 4}, {0xffffffff}},
    {"bfe.u32 %r0, %r1, %r2, %r3;", {0xffffffff, 40, 8}, {0}},
    {"bfi.b32 %r0, %r1, %r2, %r3, 8;", {0xff, 0, 28}, {0xf0000000}},
    // Beyond 255: the low byte for 32 bits, all bits for 64.
    {"bfe.u32 %r0, %r1, %r2, %r3;", {0xff0, 0x104, 4}, {0xf}},
    {"bfe.s64 %d0, %d1, %r2, %r3;", {0x8000000000000001, 0xe876c439, 0x3a}, {0xffffffffffffffff}},
    {"bfi.b64 %d0, %d1, %d2, %r3, %r4;", {0xff, 0, 60, 0x10000000}, {0xf000000000000000}},
    {"fns.b32 %r0, %r1, %r2, %r3;", {0xffffffff, 8, 0x80000000}, {0}},
    {"bfind.s32 %r0, %r1;", {0xffffffff}, {0xffffffff}},
    {"bfind.shiftamt.u64 %r0, %d1;", {1}, {63}},
    {"prmt.b32 %r0, %r1, %r2, 0x0123;", {0x44332211, 0}, {0x11223344}},
    {"prmt.b32 %r0, %r1, %r2, 0x8888;", {0x80, 0}, {0xffffffff}},
    {"prmt.b32.b4e %r0, %r1, %r2, %r3;", {0x03020100, 0x07060504, 1}, {0x06070001}},
    {"szext.clamp.s32 %r0, %r1, %r2;", {0xff, 40}, {0xff}},
    {"bmsk.wrap.b32 %r0, %r1, %r2;", {1, 2}, {6}},
    {"mul.hi.s64 %d0, %d1, %d2;", {0x8000000000000000, 0x8000000000000000}, {0x4000000000000000}},
    {"dp4a.u32.s32 %r0, %r1, %r2, %r3;",
     {0xffffffff, 0x80808080, 0},
     {static_cast<uint32_t>(-4 * 255 * 128)}},
    {"cnot.b16 %h0, %h1;", {0}, {1}},
    {"slct.b32.f32 %r0, %r1, %r2, %r3;", {1, 2, kNegZero}, {1}},
    {"slct.b32.f32 %r0, %r1, %r2, %r3;", {1, 2, kNan}, {2}},
    {"mov.b64 {%r0, %r1}, %d2;", {0x1122334455667788}, {0x55667788, 0x11223344}},
    {"mov.b32 {%b0, %b1, %b2, %b3}, %r2;", {0x11223344}, {0x44, 0x33, 0x22, 0x11}},
    {"mov.b32 %r0, {%b0, %b1, %b2, %b3};", {0x144, 0x33, 0x22, 0x11}, {0x11223344}},
    {"mov.b128 %q0, {%d1, %d2};", {5, 6}, {5}},
    {"mov.b16 {%b0, %b1}, %h0;", {0x1234}, {0x34, 0x12}},
};

void check(std::span<const Edge> edges) {
  for (const Edge& edge : edges) {
    std::vector<Lanes> sources;
    for (const uint64_t value : edge.sources) {
      sources.emplace_back();
      sources.back().fill(value);
    }
    const BenchResult got = run_instruction(edge.text, sources);
    ASSERT_EQ(got.error, "") << edge.text;
    ASSERT_EQ(got.dst.size(), edge.want.size()) << edge.text;
    for (size_t d = 0; d < edge.want.size(); ++d)
      for (const uint64_t lane : got.dst[d])
        ASSERT_EQ(lane, edge.want[d])
            << edge.text << std::hex << " gave 0x" << lane << ", not 0x" << edge.want[d];
  }
}
TEST(Edges, Float) { check(kFloatEdges); }
TEST(Edges, Double) { check(kDoubleEdges); }
TEST(Edges, Half) { check(kHalfEdges); }
TEST(Edges, Convert) { check(kConvertEdges); }
TEST(Edges, Integer) { check(kIntegerEdges); }

TEST(Edges, ConditionCodeIsPerLane) {
  Lanes a{}, b{};
  a.fill(0xffffffff);
  for (size_t i = 0; i < 32; i += 2) b[i] = 1;
  const BenchResult carried = run_instruction("add.cc.u32 %r0, %r1, %r2;", {a, b});
  EXPECT_EQ(carried.carry, 0x55555555u);
  const BenchResult used = run_instruction("addc.u32 %r0, %r1, 0;", {b}, carried.carry);
  EXPECT_EQ(used.dst[0][0], 2u);
  EXPECT_EQ(used.dst[0][1], 0u);
  EXPECT_EQ(used.carry, carried.carry) << "addc without .cc leaves the flag";
}

// For conversions with a 16-bit source: every bit pattern.
Lanes from(uint32_t first) {
  Lanes out{};
  for (uint32_t i = 0; i < 32; ++i) out[i] = first + i;
  return out;
}
TEST(Exhaustive, HalvesWidenAndComeBack) {
  for (const char* type : {"f16", "bf16"}) {
    const bool is_f16 = std::string(type) == "f16";
    const uint32_t infinity = is_f16 ? 0x7c00 : 0x7f80;
    for (uint32_t first = 0; first < 0x10000; first += 32) {
      const Lanes halves = from(first);
      const BenchResult wide =
          run_instruction(std::string("cvt.f32.") + type + " %r0, %h1;", {halves});
      const BenchResult back =
          run_instruction(std::string("cvt.rn.") + type + ".f32 %h0, %r1;", {wide.dst[0]});
      const BenchResult again =
          run_instruction(std::string("cvt.rz.") + type + ".f32 %h0, %r1;", {wide.dst[0]});
      for (size_t i = 0; i < 32; ++i) {
        const bool is_nan = (halves[i] & 0x7fff) > infinity;
        ASSERT_EQ(back.dst[0][i], is_nan ? 0x7fff : halves[i]) << type;
        ASSERT_EQ(again.dst[0][i], is_nan ? 0x7fff : halves[i]) << type;
      }
    }
  }
}
TEST(Exhaustive, Fp8PairsComeBackFromF16) {
  for (const char* type : {"e4m3x2", "e5m2x2"}) {
    for (uint32_t first = 0; first < 0x10000; first += 32) {
      const Lanes pairs = from(first);
      const BenchResult wide =
          run_instruction(std::string("cvt.rn.f16x2.") + type + " %r0, %h1;", {pairs});
      const BenchResult back = run_instruction(
          std::string("cvt.rn.satfinite.") + type + ".f16x2 %h0, %r1;", {wide.dst[0]});
      const uint64_t largest = type[1] == '4' ? 0x7e : 0x7b;
      const auto kept = [&](uint64_t code) {
        const uint64_t magnitude = code & 0x7f;
        if (magnitude <= largest) return code;
        return type[1] == '5' && magnitude == 0x7c ? (code & 0x80) | 0x7b : uint64_t(0x7f);
      };
      for (size_t i = 0; i < 32; ++i)
        ASSERT_EQ(back.dst[0][i], kept(pairs[i] >> 8) << 8 | kept(pairs[i] & 0xff))
            << type << " " << pairs[i];
    }
  }
}

}  // namespace
}  // namespace kw::isa
