// Loads, stores and atomics of every kind, and the findings about addresses.
#include "vgpu/testing.h"

namespace kw::vgpu {
namespace {

using testing::Bench;
using testing::entry;
using testing::FindingKind;

struct WrongAccess {
  const char* name;
  // %r1 = tid, %rd1 = x (input, 32 ints), %rd2 = y (output, 32 ints), %rd3 = 4 * tid
  const char* body;
  const char* kind;
  const char* message;
};
void PrintTo(const WrongAccess& c, std::ostream* out) { *out << c.name; }

class Address : public ::testing::TestWithParam<WrongAccess> {};

TEST_P(Address, IsChecked) {
  const WrongAccess& c = GetParam();
  Bench bench(
      entry(".param .u64 x, .param .u64 y, .param .u64 z",
            std::string("ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd9, [z]; "
                        "mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; "
                        "add.s64 %rd5, %rd2, %rd3;\n") +
                c.body,
            ".shared .align 16 .b8 a[64]; .shared .align 16 .b8 b[64]; .const .align 4 .u32 c[4] = "
            "{1, 2, 3, 4};"));
  const int x = bench.input("x", std::vector<int32_t>(32, 7)),
            y = bench.output("y", 32, tensor::DType::Int32);
  const int z = bench.input("z", std::vector<int32_t>(4));
  bench.program.buffers.back().present = false;
  bench.launch("k", {1}, {32}).params = {Bench::pointer(x), Bench::pointer(y), Bench::pointer(z)};
  bench.run();
  const auto kind = record::finding_from_name(c.kind);
  ASSERT_TRUE(kind.has_value());
  const record::Finding* f = bench.found(*kind);
  ASSERT_NE(f, nullptr) << bench.findings();
  EXPECT_NE(f->message.find(c.message), std::string::npos) << f->message;
  EXPECT_EQ(bench.outcome.status, ports::RunStatus::Completed);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Address,
    ::testing::Values(
        WrongAccess{"PastTheEnd", "ld.global.u32 %r5, [%rd4+4];", "out-of-bounds-global",
                    "reads x[32], one past the end"},
        WrongAccess{"BeforeTheStart", "st.global.u32 [%rd5+-8], 1;", "out-of-bounds-global",
                    "writes y[-2], 2 before"},
        WrongAccess{"FarAway",
                    "mad.wide.u32 %rd6, %r1, 1000000000, %rd1; ld.global.u32 %r5, [%rd6];",
                    "out-of-bounds-global", "reads x[250000000]"},
        WrongAccess{
            "VectorOverTheEnd",
            "mad.wide.u32 %rd6, %r1, 16, %rd1; ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd6];",
            "out-of-bounds-global", "reads x[32]"},
        WrongAccess{"Misaligned", "ld.global.u32 %r5, [%rd1+2];", "misaligned",
                    "2 bytes past a multiple of 4"},
        WrongAccess{"MisalignedVector", "ld.global.v2.u32 {%r5, %r6}, [%rd1+4];", "misaligned",
                    "4 bytes past a multiple of 8"},
        WrongAccess{"Null", "ld.global.u32 %r5, [%rd9];", "null-pointer", "null pointer"},
        WrongAccess{"NullWithIndex", "add.s64 %rd6, %rd9, %rd3; ld.global.u32 %r5, [%rd6+400];",
                    "null-pointer", "null pointer"},
        WrongAccess{"Nowhere", "mov.u64 %rd6, 0x1234567890abcdef; ld.global.u32 %r5, [%rd6];",
                    "invalid-address", "no buffer"},
        WrongAccess{"WriteToInput", "st.global.u32 [%rd4], 1;", "write-to-input",
                    "writes x[0], which is an input"},
        WrongAccess{"AtomicOnInput", "red.global.add.u32 [%rd4], 1;", "write-to-input", "x[0]"},
        WrongAccess{"WriteToConstant", "mov.u64 %rd6, c; st.u32 [%rd6], 1;", "write-to-constant",
                    "constant memory"},
        WrongAccess{"BetweenSharedVariables", "ld.shared.u32 %r5, [a+64];", "out-of-bounds-shared",
                    "a[16], one past the end"},
        WrongAccess{"BeforeShared", "ld.shared.u32 %r5, [0];", "out-of-bounds-shared", "a"},
        WrongAccess{"PastShared", "mov.u32 %r6, b; st.shared.u32 [%r6+68], 1;",
                    "out-of-bounds-shared", "b"},
        WrongAccess{"GenericPastShared",
                    "mov.u32 %r6, b; cvt.u64.u32 %rd6, %r6; cvta.shared.u64 %rd7, %rd6; st.u32 "
                    "[%rd7+64], 1;",
                    "out-of-bounds-shared", "b"},
        WrongAccess{"LocalOverrun",
                    ".local .align 4 .b8 l[16]; mov.u64 %rd6, l; st.local.u32 [%rd6+16], 1;",
                    "out-of-bounds-local", "writes l[4], one past the end"}),
    [](const auto& row) { return row.param.name; });

TEST(Memory, LanesMayMixSpaces) {
  // Even lanes read shared memory and odd lanes the input, through generic addresses.
  Bench bench(entry(
      ".param .u64 x, .param .u64 y",
      R"(ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.s32 %r4, %r2, %r3; st.shared.u32 [%r4], %r1; bar.warp.sync -1;
cvt.u64.u32 %rd4, %r4; cvta.shared.u64 %rd5, %rd4; add.s64 %rd6, %rd1, %rd3; and.b32 %r5, %r1, 1; setp.eq.s32 %p1, %r5, 0;
selp.b64 %rd7, %rd5, %rd6, %p1; ld.u32 %r6, [%rd7]; isspacep.shared %p2, %rd7; selp.b32 %r7, 100, 0, %p2;
add.s32 %r8, %r6, %r7; add.s64 %rd8, %rd2, %rd3; st.u32 [%rd8], %r8;)",
      ".shared .align 4 .b8 s[128];"));
  std::vector<int32_t> values(32);
  for (int i = 0; i < 32; ++i) values[static_cast<size_t>(i)] = 1000 + i;
  const int x = bench.input("x", values), y = bench.output("y", 32, tensor::DType::Int32);
  bench.launch("k", {1}, {32}).params = {Bench::pointer(x), Bench::pointer(y)};
  bench.run();
  EXPECT_EQ(bench.findings(), "");
  const auto got = bench.read<int>(y);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(got[static_cast<size_t>(i)], i % 2 == 0 ? 100 + i : 1000 + i);
}

TEST(Memory, WidthsAndSigns) {
  Bench bench(entry(".param .u64 x, .param .u64 y",
                    R"(ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
ld.global.s8 %r1, [%rd1]; ld.global.u8 %r2, [%rd1]; ld.global.s16 %r3, [%rd1]; ld.global.u16 %r4, [%rd1];
ld.global.s32 %rd3, [%rd1]; ld.global.v2.b64 {%rd4, %rd5}, [%rd1]; cvt.u32.u64 %r5, %rd4; shr.u64 %rd6, %rd3, 32; cvt.u32.u64 %r6, %rd6;
st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4}; st.global.v2.u32 [%rd2+16], {%r5, %r6}; st.global.u8 [%rd2+24], %r1;
st.global.u8 [%rd2+25], 0; st.global.u16 [%rd2+26], 258; ld.global.b16 %h1, [%rd1+2]; st.global.b16 [%rd2+28], %h1;
st.global.u16 [%rd2+30], 0;)"));
  const int x = bench.input("x", std::vector<int32_t>{-2, 5, 6, 7}),
            y = bench.output("y", 8, tensor::DType::Int32);
  bench.launch("k", {1}, {1}).params = {Bench::pointer(x), Bench::pointer(y)};
  bench.run();
  EXPECT_EQ(bench.findings(), "");
  EXPECT_EQ(bench.read<uint32_t>(y),
            (std::vector<uint32_t>{0xfffffffe, 0xfe, 0xfffffffe, 0xfffe, 0xfffffffe, 0xffffffff,
                                   0x010200fe, 0x0000ffff}));
}

struct AtomicCase {
  const char* name;
  const char* op;
  uint32_t start;
  uint32_t (*value)(uint32_t tid);
  uint32_t want;
};
void PrintTo(const AtomicCase& c, std::ostream* out) { *out << c.name; }

class Atomic : public ::testing::TestWithParam<AtomicCase> {};

// 64 threads update one word, in shared and in global memory.
TEST_P(Atomic, GivesTheSameInEverySpace) {
  const AtomicCase& c = GetParam();
  for (const bool shared : {false, true}) {
    const std::string space = shared ? "shared" : "global";
    const std::string body =
        "ld.param.u64 %rd1, [v]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, "
        "%r1, 4; "
        "add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r2, [%rd4]; setp.eq.s32 %p1, %r1, 0; " +
        std::string(shared ? "cvt.u64.u32 %rd5, 0; mov.u64 %rd5, s; " : "mov.u64 %rd5, %rd2; ") +
        "@%p1 st." + space + ".u32 [%rd5], " + std::to_string(c.start) + "; bar.sync 0; red." +
        space + "." + c.op + " [%rd5], %r2; bar.sync 0; @%p1 ld." + space +
        ".u32 %r4, [%rd5]; @%p1 st.global.u32 [%rd2], %r4;";
    Bench bench(entry(".param .u64 v, .param .u64 y", body, ".shared .align 4 .b8 s[4];"));
    std::vector<int32_t> values(64);
    for (uint32_t i = 0; i < 64; ++i) values[i] = static_cast<int32_t>(c.value(i));
    const int v = bench.input("v", values), y = bench.output("y", 1, tensor::DType::Int32);
    bench.launch("k", {1}, {64}).params = {Bench::pointer(v), Bench::pointer(y)};
    bench.run();
    EXPECT_EQ(bench.findings(), "") << space;
    EXPECT_EQ(bench.read<uint32_t>(y)[0], c.want) << space;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Atomic,
    ::testing::Values(
        AtomicCase{"Add", "add.u32", 5, [](uint32_t i) { return i; }, 5 + 2016},
        AtomicCase{"MinSigned", "min.s32", 0, [](uint32_t i) { return i - 40; },
                   static_cast<uint32_t>(-40)},
        AtomicCase{"MaxUnsigned", "max.u32", 3, [](uint32_t i) { return i - 40; }, 0xffffffffu},
        AtomicCase{"And", "and.b32", 0xffffffffu, [](uint32_t i) { return ~(1u << (i % 16)); },
                   0xffff0000u},
        AtomicCase{"Or", "or.b32", 0, [](uint32_t i) { return 1u << (i % 16); }, 0xffffu},
        AtomicCase{"Xor", "xor.b32", 1, [](uint32_t i) { return i; }, 1},
        AtomicCase{"Inc", "inc.u32", 0, [](uint32_t) { return 9u; }, 4},
        AtomicCase{"Dec", "dec.u32", 3, [](uint32_t) { return 9u; }, 9},
        AtomicCase{"AddFloat", "add.f32", 0x3f800000, [](uint32_t) { return 0x3f000000u; },
                   0x42040000u},
        AtomicCase{"AddHalf2", "add.noftz.f16x2", 0, [](uint32_t) { return 0x3c004000u; },
                   0x54005800u}),
    [](const auto& row) { return row.param.name; });

TEST(Memory, ModuleVariablesMustNotChange) {
  for (const int back : {0, 1}) {
    Bench bench(entry(".param .u32 back",
                      "ld.param.u32 %r1, [back]; ld.global.u32 %r2, [v+4]; st.global.u32 [v+4], "
                      "99; setp.eq.s32 %p1, %r1, 1; "
                      "@%p1 st.global.u32 [v+4], %r2;",
                      ".global .align 4 .u32 v[3] = {1, 2, 3};"));
    bench.launch("k", {1}, {1}).params = {Bench::value(back)};
    bench.run();
    const record::Finding* f = bench.found(FindingKind::StateAcrossCalls);
    EXPECT_EQ(f != nullptr, back == 0) << bench.findings();
    if (f != nullptr) {
      EXPECT_EQ(f->buffer, "v");
      EXPECT_EQ(f->element, 1);
    }
    bench.run();  // every call starts with the initial values of the image
    EXPECT_EQ(bench.found(FindingKind::StateAcrossCalls) != nullptr, back == 0);
  }
}

// x and y are aligned to 4 bytes only: reading four elements at once is then misaligned.
TEST(Memory, BuffersStandWhereTheirDeclarationAllows) {
  const char* const kSingles =
      "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; "
      "mad.lo.s32 %r1, %r2, 32, %r1; mul.wide.u32 %rd3, %r1, 8; add.s64 %rd4, %rd1, %rd3; "
      "add.s64 %rd5, %rd2, %rd3; ld.global.u32 %r3, [%rd4]; ld.global.u32 %r4, [%rd4+4]; "
      "st.global.u32 [%rd5], %r3; st.global.u32 [%rd5+4], %r4; "
      "ld.global.u32 %r5, [%rd5]; red.global.add.u32 [%rd5+4], %r5;";
  const char* const kPairs =
      "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; "
      "mad.lo.s32 %r1, %r2, 32, %r1; mul.wide.u32 %rd3, %r1, 8; add.s64 %rd4, %rd1, %rd3; "
      "add.s64 %rd5, %rd2, %rd3; ld.global.v2.u32 {%r3, %r4}, [%rd4]; "
      "st.global.v2.u32 [%rd5], {%r3, %r4};";
  struct Row {
    const char* body;
    int misalign, align;
    bool wrong;
  };
  for (const Row& row :
       {Row{kSingles, 0, 4, false}, Row{kSingles, 4, 4, false}, Row{kPairs, 0, 4, false},
        Row{kPairs, 4, 4, true}, Row{kPairs, 4, 8, false}, Row{kPairs, 12, 4, true},
        Row{kPairs, 16, 4, false}}) {
    for (const int threads : {1, 2}) {
      Bench bench(entry(".param .u64 x, .param .u64 y", row.body));
      std::vector<int32_t> values(256);
      for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i);
      const int x = bench.input("x", values), y = bench.output("y", 256, tensor::DType::Int32);
      for (kernel::Buffer& buffer : bench.program.buffers) buffer.align = row.align;
      bench.launch("k", {4}, {32}).params = {Bench::pointer(x), Bench::pointer(y)};
      bench.options.misalign_bytes = row.misalign;
      bench.options.threads = threads;
      bench.run();
      EXPECT_EQ(bench.found(FindingKind::Misaligned) != nullptr, row.wrong) << bench.findings();
      if (row.wrong) continue;
      EXPECT_EQ(bench.findings(), "");
      EXPECT_EQ(bench.read<int>(y)[255], row.body == kSingles ? 254 + 255 : 255);
      EXPECT_EQ(bench.outcome.buffers[static_cast<size_t>(y)].data.size(), 1024u);
    }
  }
}

// A kernel may use the bits of its pointers; shifted buffers must work.
TEST(Memory, ShiftedBuffersAreCheckedLikeOthers) {
  Bench bench(entry(".param .u64 y",
                    "ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x; and.b64 %rd2, %rd1, 15; "
                    "setp.ne.s64 %p1, %rd2, 4; @%p1 trap; mad.wide.u32 %rd3, %r1, 16, %rd1; "
                    "st.global.v4.u32 [%rd3+12], {%r1, %r1, %r1, %r1}; "
                    "ld.global.u32 %r2, [%rd3+24]; st.global.u32 [%rd3], %r2;"));
  const int y = bench.scratch("y", 132);
  bench.program.buffers.back().align = 4;
  bench.launch("k", {1}, {32}).params = {Bench::pointer(y)};
  bench.options.misalign_bytes = 4;
  bench.run();
  // Thread t reads what t wrote (elements 4t+3 … 4t+6) and then stores to 4t, which t-1 wrote.
  EXPECT_EQ(bench.found(FindingKind::Trap), nullptr) << bench.findings();
  EXPECT_EQ(bench.found(FindingKind::Misaligned), nullptr) << bench.findings();
  const record::Finding* race = bench.found(FindingKind::GlobalRaceInBlock);
  ASSERT_NE(race, nullptr) << bench.findings();
  EXPECT_EQ(race->buffer, "y");
  EXPECT_EQ(race->element % 4, 0);
}

}  // namespace
}  // namespace kw::vgpu
