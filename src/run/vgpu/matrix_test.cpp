// mma.sync, ldmatrix and stmatrix: elements are in the lanes and registers that the PTX ISA names.
#include <cmath>

#include "numeric/small_float.h"
#include "vgpu/testing.h"

namespace kw::vgpu::testing {
namespace {

/// Lane and register words of one matrix, as in the pictures of the ISA.
using Words = std::vector<int32_t>;

struct MmaCase {
  const char* name;
  const char* instruction;
  int k, a_registers, b_registers;
  bool bf16;
};

constexpr MmaCase kMmas[] = {
    {"fp16_k16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 4, 2, false},
    {"bf16_k16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 4, 2, true},
    {"fp16_k8", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 8, 2, 1, false},
};

float left_at(int row, int k) { return static_cast<float>((row * 7 + k * 3) % 11 - 5); }
float right_at(int k, int column) { return static_cast<float>((k * 5 + column) % 7 - 3); }
float sum_at(int row, int column) { return static_cast<float>(row - 2 * column); }

int32_t pair(const MmaCase& c, float low, float high) {
  const auto bits = [&](float x) -> uint32_t {
    return c.bf16 ? numeric::float_to_bf16(x) : numeric::float_to_fp16(x);
  };
  return static_cast<int32_t>(bits(low) | bits(high) << 16);
}

std::string registers(const char* prefix, int count, int first = 0) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i > 0 ? ", " : "") + std::string(prefix) + std::to_string(first + i);
  return text + "}";
}

/// Loads the thread's own `count` words from parameter `which` into registers `prefix`first….
std::string load_own(const char* which, const char* prefix, const char* type, int count,
                     int first) {
  std::string text = "ld.param.u64 %rd0, [" + std::string(which) +
                     "];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %rd1, %r0, " +
                     std::to_string(4 * count) + ";\nadd.u64 %rd2, %rd0, %rd1;\n";
  for (int i = 0; i < count; ++i)
    text += "ld.global." + std::string(type) + " " + prefix + std::to_string(first + i) +
            ", [%rd2+" + std::to_string(4 * i) + "];\n";
  return text;
}

TEST(Matrix, ProductsLieWhereTheIsaPutsThem) {
  for (const MmaCase& c : kMmas) {
    SCOPED_TRACE(c.name);
    Words a, b;
    std::vector<float> sums, expected;
    for (int lane = 0; lane < 32; ++lane) {
      const int group = lane / 4, in_group = lane % 4;
      for (int r = 0; r < c.a_registers; ++r) {
        const int row = group + r % 2 * 8, k = in_group * 2 + r / 2 * 8;
        a.push_back(pair(c, left_at(row, k), left_at(row, k + 1)));
      }
      for (int r = 0; r < c.b_registers; ++r) {
        const int k = in_group * 2 + r * 8;
        b.push_back(pair(c, right_at(k, group), right_at(k + 1, group)));
      }
      for (int r = 0; r < 4; ++r) {
        const int row = group + r / 2 * 8, column = in_group * 2 + r % 2;
        float sum = sum_at(row, column);
        sums.push_back(sum);
        for (int k = 0; k < c.k; ++k) sum += left_at(row, k) * right_at(k, column);
        expected.push_back(sum);
      }
    }
    const std::string body = load_own("a", "%r", "b32", c.a_registers, 10) +
                             load_own("b", "%r", "b32", c.b_registers, 20) +
                             load_own("c", "%f", "f32", 4, 0) + std::string(c.instruction) + " " +
                             registers("%f", 4, 4) + ", " + registers("%r", c.a_registers, 10) +
                             ", " + registers("%r", c.b_registers, 20) + ", " + registers("%f", 4) +
                             ";\nld.param.u64 %rd0, [d];\nadd.u64 %rd2, %rd0, %rd1;\n" +
                             "st.global.v4.f32 [%rd2], {%f4, %f5, %f6, %f7};\n";
    Bench bench(entry(".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d", body));
    const int left = bench.input("a", a), right = bench.input("b", b);
    const int start = bench.input("c", sums), end = bench.output("d", 128);
    bench.launch("k", {1, 1, 1}, {32, 1, 1}).params = {Bench::pointer(left), Bench::pointer(right),
                                                       Bench::pointer(start), Bench::pointer(end)};
    bench.run();
    EXPECT_EQ(bench.findings(), "");
    EXPECT_EQ(bench.read<float>(end), expected);
  }
}

struct RowsCase {
  const char* instruction;
  int matrices;
  bool turned;
};

constexpr RowsCase kRows[] = {
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16", 1, false},
    {"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16", 2, true},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", 4, false},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 4, true},
};

// 32 rows of 16 bytes: thread t writes row t, and lane t names row 31 - t.
TEST(Matrix, RowsComeFromTheLanesThatNameThem) {
  for (const RowsCase& c : kRows) {
    SCOPED_TRACE(c.instruction);
    const std::string body =
        load_own("x", "%r", "b32", 4, 10) +
        "mov.u32 %r1, tile;\nmad.lo.u32 %r2, %r0, 16, %r1;\n"
        "st.shared.v4.b32 [%r2], {%r10, %r11, %r12, %r13};\nbar.warp.sync 0xffffffff;\n"
        "sub.u32 %r3, 31, %r0;\nmad.lo.u32 %r4, %r3, 16, %r1;\n" +
        std::string(c.instruction) + " " + registers("%r", c.matrices, 20) +
        ", [%r4];\nld.param.u64 %rd0, [y];\nadd.u64 %rd2, %rd0, %rd1;\n";
    std::string stores;
    for (int i = 0; i < 4; ++i)
      stores += "st.global.b32 [%rd2+" + std::to_string(4 * i) + "], " +
                (i < c.matrices ? "%r" + std::to_string(20 + i) : "0") + ";\n";
    Bench bench(
        entry(".param .u64 x, .param .u64 y", body + stores, ".shared .align 16 .b8 tile[512];"));
    Words x(128), expected;
    const auto element = [](int row, int column) { return row * 8 + column + 1; };
    for (int row = 0; row < 32; ++row) {
      for (int column = 0; column < 8; column += 2)
        x[static_cast<size_t>(row * 4 + column / 2)] =
            element(row, column) | element(row, column + 1) << 16;
    }
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 4; ++i) {
        const int line = lane / 4, along = lane % 4 * 2;
        // Lane 8 i + r names row r of matrix i.
        const auto held = [&](int r, int column) { return element(31 - (8 * i + r), column); };
        const int low = c.turned ? held(along, line) : held(line, along);
        const int high = c.turned ? held(along + 1, line) : held(line, along + 1);
        expected.push_back(i < c.matrices ? low | high << 16 : 0);
      }
    }
    const int from = bench.input("x", x), to = bench.output("y", 128, DType::Int32);
    bench.launch("k", {1, 1, 1}, {32, 1, 1}).params = {Bench::pointer(from), Bench::pointer(to)};
    bench.run();
    EXPECT_EQ(bench.findings(), "");
    EXPECT_EQ(bench.read<int32_t>(to), expected);
  }
}

constexpr RowsCase kStoredRows[] = {
    {"stmatrix.sync.aligned.m8n8.x1.shared.b16", 1, false},
    {"stmatrix.sync.aligned.m8n8.x2.trans.shared.b16", 2, true},
    {"stmatrix.sync.aligned.m8n8.x4.shared.b16", 4, false},
    {"stmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 4, true},
};

// Lane t holds words 4 t … of x and names row 31 - t; then thread t reads row t.
TEST(Matrix, RowsGoToTheLanesThatNameThem) {
  for (const RowsCase& c : kStoredRows) {
    SCOPED_TRACE(c.instruction);
    const std::string body =
        load_own("x", "%r", "b32", 4, 10) +
        "mov.u32 %r1, tile;\nmad.lo.u32 %r2, %r0, 16, %r1;\nmov.u32 %r5, 0;\n"
        "st.shared.v4.b32 [%r2], {%r5, %r5, %r5, %r5};\nbar.warp.sync 0xffffffff;\n"
        "sub.u32 %r3, 31, %r0;\nmad.lo.u32 %r4, %r3, 16, %r1;\n" +
        std::string(c.instruction) + " [%r4], " + registers("%r", c.matrices, 10) +
        ";\nbar.warp.sync 0xffffffff;\nld.shared.v4.b32 {%r20, %r21, %r22, %r23}, [%r2];\n"
        "ld.param.u64 %rd0, [y];\nadd.u64 %rd2, %rd0, %rd1;\n"
        "st.global.v4.b32 [%rd2], {%r20, %r21, %r22, %r23};\n";
    Bench bench(entry(".param .u64 x, .param .u64 y", body, ".shared .align 16 .b8 tile[512];"));
    Words x(128), expected;
    const auto held = [](int lane, int matrix, int half) {
      return lane * 8 + matrix * 2 + half + 1;
    };
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 4; ++i)
        x[static_cast<size_t>(lane * 4 + i)] = held(lane, i, 0) | held(lane, i, 1) << 16;
    }
    for (int row = 0; row < 32; ++row) {
      const int named = 31 - row, matrix = named / 8, line = named % 8;
      const auto element = [&](int column) {
        const int r = c.turned ? column : line, along = c.turned ? line : column;
        return matrix < c.matrices ? held(r * 4 + along / 2, matrix, along % 2) : 0;
      };
      for (int column = 0; column < 8; column += 2)
        expected.push_back(element(column) | element(column + 1) << 16);
    }
    const int from = bench.input("x", x), to = bench.output("y", 128, DType::Int32);
    bench.launch("k", {1, 1, 1}, {32, 1, 1}).params = {Bench::pointer(from), Bench::pointer(to)};
    bench.run();
    EXPECT_EQ(bench.findings(), "");
    EXPECT_EQ(bench.read<int32_t>(to), expected);
  }
}

TEST(Matrix, RowsNobodyWroteAreReported) {
  const std::string body =
      "mov.u32 %r0, %tid.x;\nmov.u32 %r1, tile;\nmad.lo.u32 %r2, %r0, 16, %r1;\n"
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r2];\n"
      "ld.param.u64 %rd0, [y];\nmul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd2, %rd0, %rd1;\n"
      "st.global.b32 [%rd2], %r3;\n";
  Bench bench(entry(".param .u64 y", body, ".shared .align 16 .b8 tile[512];"));
  const int to = bench.output("y", 32, DType::Int32);
  bench.launch("k", {1, 1, 1}, {32, 1, 1}).params = {Bench::pointer(to)};
  bench.run();
  EXPECT_NE(bench.findings(), "");
}

TEST(Matrix, UnknownShapesAreNamed) {
  const Bench bench(
      entry(".param .u64 y",
            "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0, %f1, %f2, %f3}, "
            "{%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};\n"));
  EXPECT_NE(bench.load_error.find("unsupported instruction mma.sync.aligned.m16n8k32"),
            std::string::npos)
      << bench.load_error;
}

}  // namespace
}  // namespace kw::vgpu::testing
