// wgmma: matrices are in shared memory as their descriptors say, sums in the registers that the PTX
// ISA names.
#include "numeric/small_float.h"
#include "vgpu/testing.h"

namespace kw::vgpu::testing {
namespace {

constexpr int kTile = 16384, kRight = 8192, kColumns = 16, kDepth = 16;

/// The layout of a matrix: bytes of a line whose units are permuted (16: none), and the two
/// distances.
struct Lying {
  uint64_t mode;
  int width, leading, stride;
  bool turned;
};

struct ProductCase {
  const char* name;
  Lying left, right;
  bool bf16 = false, keep = true;
};

// Eight lines of eight values form a core. In a turned matrix, k advances from line to line.
constexpr Lying kPlain{0, 16, 128, 256, false}, kPlainTurned{0, 16, 1024, 128, true};
constexpr ProductCase kProducts[] = {
    {"no swizzle", kPlain, kPlain},
    {"32 bytes", {3, 32, 0, 256, false}, {3, 32, 0, 256, false}},
    {"64 bytes", {2, 64, 0, 512, false}, {2, 64, 0, 512, false}},
    {"128 bytes", {1, 128, 0, 1024, false}, {1, 128, 0, 1024, false}},
    {"128 bytes, bf16", {1, 128, 0, 1024, false}, {1, 128, 0, 1024, false}, true},
    {"sums begin at zero", kPlain, kPlain, false, false},
    {"turned", kPlainTurned, kPlainTurned},
    {"turned, 32 bytes", {3, 32, 512, 256, true}, {3, 32, 512, 256, true}},
    {"left turned, 128 bytes", {1, 128, 0, 1024, true}, {1, 128, 0, 1024, false}},
};

float left_value(int row, int k) { return static_cast<float>((row * 7 + k * 3) % 11 - 5); }
float right_value(int k, int column) { return static_cast<float>((k * 5 + column) % 7 - 3); }
float start_value(int row, int column) { return static_cast<float>(row - 2 * column); }

// As in the pictures of the ISA: cores of eight lines of 16 bytes, `width` / 16 of them side by
// side.
int byte_of(const Lying& l, int line, int k) {
  const int along = l.turned ? line : k, across = l.turned ? k : line;
  const int unit = along / 8, units = l.width / 16;
  int at = across % 8 * l.width;
  if (l.width == 16)
    at += l.turned ? unit * l.stride + across / 8 * l.leading
                   : unit * l.leading + across / 8 * l.stride;
  else
    at += unit / units * l.leading + unit % units * 16 + across / 8 * l.stride;
  at += along % 8 * 2;
  const int shuffled = at / 128 % units;
  return at ^ (shuffled * 16);
}

uint64_t descriptor(const Lying& l, int start) {
  const auto field = [](int bytes) { return static_cast<uint64_t>(bytes / 16); };
  return field(start) | field(l.leading) << 16 | field(l.stride) << 32 | l.mode << 62;
}

std::vector<int32_t> tile_of(const ProductCase& c) {
  std::vector<uint8_t> bytes(kTile);
  const auto put = [&](int at, float value) {
    const uint16_t bits = c.bf16 ? numeric::float_to_bf16(value) : numeric::float_to_fp16(value);
    std::memcpy(bytes.data() + at, &bits, 2);
  };
  for (int k = 0; k < kDepth; ++k) {
    for (int row = 0; row < 64; ++row) put(byte_of(c.left, row, k), left_value(row, k));
    for (int column = 0; column < kColumns; ++column)
      put(kRight + byte_of(c.right, column, k), right_value(k, column));
  }
  std::vector<int32_t> words(kTile / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

/// Copies the tile to shared memory and loads the thread's own eight sums.
const char* const kHead = R"(
ld.param.u64 %rd0, [x];
mov.u32 %r0, %tid.x;
mov.u32 %r1, tile;
mul.wide.u32 %rd1, %r0, 16;
add.u64 %rd2, %rd0, %rd1;
mad.lo.u32 %r2, %r0, 16, %r1;
mov.u32 %r3, 0;
LOOP:
ld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%rd2];
st.shared.v4.b32 [%r2], {%r10, %r11, %r12, %r13};
add.u64 %rd2, %rd2, 2048;
add.u32 %r2, %r2, 2048;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p1, %r3, 8;
@%p1 bra LOOP;
bar.sync 0;
ld.param.u64 %rd3, [c];
mul.wide.u32 %rd4, %r0, 32;
add.u64 %rd5, %rd3, %rd4;
ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd5];
ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%rd5+16];
ld.param.u64 %rd6, [a];
ld.param.u64 %rd7, [b];
cvt.u64.u32 %rd8, %r1;
shr.u64 %rd8, %rd8, 4;
add.u64 %rd6, %rd6, %rd8;
add.u64 %rd7, %rd7, %rd8;
ld.param.u32 %r4, [keep];
setp.ne.u32 %p2, %r4, 0;
wgmma.fence.sync.aligned;
)";
const char* const kTail = R"(
ld.param.u64 %rd9, [y];
add.u64 %rd10, %rd9, %rd4;
st.global.v4.f32 [%rd10], {%f0, %f1, %f2, %f3};
st.global.v4.f32 [%rd10+16], {%f4, %f5, %f6, %f7};
)";
const char* const kAwait = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";

std::string product_text(const ProductCase& c, const std::string& between = "") {
  const std::string type = c.bf16 ? "bf16" : "f16";
  const auto flag = [](bool set) { return set ? "1" : "0"; };
  return entry(
      ".param .u64 x, .param .u64 c, .param .u64 y, .param .u64 a, .param .u64 b, .param .u32 keep",
      kHead + ("wgmma.mma_async.sync.aligned.m64n16k16.f32." + type + "." + type) +
          " {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, %rd6, %rd7, %p2, 1, 1, " +
          flag(c.left.turned) + ", " + flag(c.right.turned) + ";\n" + between + kAwait + kTail,
      ".shared .align 1024 .b8 tile[16384];");
}

struct ProductRun {
  explicit ProductRun(const ProductCase& c, const std::string& between = "")
      : bench(product_text(c, between)) {
    std::vector<float> start;
    for (int thread = 0; thread < 128; ++thread) {
      for (int i = 0; i < 8; ++i) {
        const int row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
        const int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
        start.push_back(start_value(row, column));
        float sum = c.keep ? start.back() : 0;
        for (int k = 0; k < kDepth; ++k) sum += left_value(row, k) * right_value(k, column);
        expected.push_back(sum);
      }
    }
    const int x = bench.input("x", tile_of(c)), from = bench.input("c", start);
    to = bench.output("y", 1024);
    bench.launch("k", {1, 1, 1}, {128, 1, 1}).params = {
        Bench::pointer(x),
        Bench::pointer(from),
        Bench::pointer(to),
        Bench::value(descriptor(c.left, 0)),
        Bench::value(descriptor(c.right, kRight)),
        Bench::value(static_cast<uint32_t>(c.keep))};
    bench.run();
  }
  Bench bench;
  std::vector<float> expected;
  int to = 0;
};

TEST(GroupProducts, MatricesLieWhereTheirDescriptorsSay) {
  for (const ProductCase& c : kProducts) {
    SCOPED_TRACE(c.name);
    const ProductRun run(c);
    EXPECT_EQ(run.bench.findings(), "");
    EXPECT_EQ(run.bench.read<float>(run.to), run.expected);
  }
}

TEST(GroupProducts, WritingWhatIsStillReadIsARace) {
  const ProductRun run(kProducts[0],
                       "bar.sync 0;\nst.shared.v4.b32 [%r1], {%r0, %r0, %r0, %r0};\n");
  EXPECT_NE(run.bench.findings().find("overwritten before it is waited for"), std::string::npos)
      << run.bench.findings();
}

TEST(GroupProducts, UnknownTypesAreNamed) {
  const Bench bench(
      entry(".param .u64 y",
            "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%f0, %f1, %f2, %f3}, "
            "%rd0, %rd1, %p0, 1, 1;\n"));
  EXPECT_NE(bench.load_error.find("unsupported instruction wgmma.mma_async.sync.aligned.m64n8k32"),
            std::string::npos)
      << bench.load_error;
}

}  // namespace
}  // namespace kw::vgpu::testing
