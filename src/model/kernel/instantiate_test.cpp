#include "kernel/instantiate.h"

#include <gtest/gtest.h>

#include <cstring>

#include "kernel/signature.h"
#include "kernel/test_module.h"

namespace kw::kernel {
namespace {

Result<Program> build(const Module& module, const Bindings& bindings, const std::string& parameters,
                      int registers = -1) {
  const auto selection = select(module, bindings);
  if (!selection) return selection.error();
  std::vector<KernelInfo> kernels;
  for (const std::string& kernel : selection->kernels) {
    kernels.push_back(
        {kernel, "entry_" + kernel, "void " + kernel + "(" + parameters + ")", registers, 0, -1});
  }
  return instantiate(module, bindings, *selection, kernels);
}

template <typename T>
T value_of(const Param& param) {
  T value{};
  EXPECT_EQ(param.bytes.size(), sizeof value);
  std::memcpy(&value, param.bytes.data(), std::min(sizeof value, param.bytes.size()));
  return value;
}

TEST(Instantiate, EncodesEveryKindOfArgument) {
  const Module m = plan(
      "input x: fp32[N]\ninput bias?: fp32[N]\noutput y: fp32[N]\nscratch a: fp32[N]\nscratch b: "
      "fp32[N]\n"
      "scalar eps: fp32 = 0.5\nscalar d: fp64 = -2\nscalar h: fp16 = 1.5\nscalar bf: bf16 = "
      "1.5\nscalar s: int64 = -7\n"
      "scalar u: uint8 = 200\nscalar on: bool = true\nlet M = N * 3\ntune VEC in 4\n"
      "launch k grid(1) block(1) args(x, bias, y, pick(1, a, b), eps, d, h, bf, s, u, on, N, M, "
      "VEC, N > 2, -1)");
  Bindings bindings = bind({{"N", 5}});
  bindings.absent = {"bias"};
  const auto program = build(m, bindings,
                             "float const*, float const*, float*, void*, float, double, __half, "
                             "__nv_bfloat16, long, unsigned char, bool, "
                             "int, unsigned long, short, bool, signed char");
  ASSERT_TRUE(program) << program.error().message;
  const std::vector<Param>& p = program->launches[0].params;
  EXPECT_EQ(p[0].buffer, 0);
  EXPECT_EQ(p[1].buffer, 1);
  EXPECT_FALSE(program->buffers[1].present);
  EXPECT_EQ(p[2].buffer, 2);
  EXPECT_EQ(p[3].buffer, 4);
  EXPECT_EQ(p[3].name, "pick(1, a, b)");
  EXPECT_EQ(value_of<float>(p[4]), 0.5f);
  EXPECT_EQ(value_of<double>(p[5]), -2.0);
  EXPECT_EQ(value_of<uint16_t>(p[6]), 0x3e00);
  EXPECT_EQ(value_of<uint16_t>(p[7]), 0x3fc0);
  EXPECT_EQ(value_of<int64_t>(p[8]), -7);
  EXPECT_EQ(value_of<uint8_t>(p[9]), 200);
  EXPECT_EQ(value_of<uint8_t>(p[10]), 1);
  EXPECT_EQ(value_of<int32_t>(p[11]), 5);
  EXPECT_EQ(value_of<uint64_t>(p[12]), 15u);
  EXPECT_EQ(value_of<int16_t>(p[13]), 4);
  EXPECT_EQ(value_of<uint8_t>(p[14]), 1);
  EXPECT_EQ(value_of<int8_t>(p[15]), -1);
}

TEST(Instantiate, GivenScalarsReplaceDefaults) {
  const Module m = plan(
      "output y: fp32[N]\nscalar eps: fp32 = 0.5\nscalar n: int32 = 3\nlaunch k grid(n) block(1) "
      "args(y, eps, n)");
  Bindings bindings = bind({{"N", 5}});
  bindings.scalars = {{"eps", 0.25}};
  bindings.integer_scalars = {{"n", 9}};
  const auto program = build(m, bindings, "float*, float, int");
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->launches[0].grid.x, 9u);
  EXPECT_EQ(value_of<float>(program->launches[0].params[1]), 0.25f);
  EXPECT_EQ(value_of<int32_t>(program->launches[0].params[2]), 9);
}

TEST(Instantiate, BuffersKnowTheirBytes) {
  const Module m = plan(
      "input x: fp16[A, B] strides(10, 1)\ninput t: int32[A, B] strides(0, 1) align 64\noutput y: "
      "fp64[]\n"
      "scratch s: uint8[SMS * blocks_per_sm(k)] = 0 kept\nlaunch k grid(1) block(1024) args(x, t, "
      "y, s)");
  const auto program = build(m, bind({{"A", 3}, {"B", 4}}),
                             "__half const*, int const*, double*, unsigned char*", 32);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->buffers[0].bytes, (2 * 10 + 3 + 1) * 2);
  EXPECT_EQ(program->buffers[1].bytes, 16);
  EXPECT_EQ(program->buffers[1].align, 64);
  EXPECT_EQ(program->buffers[2].bytes, 8);
  EXPECT_EQ(program->buffers[3].bytes, 132 * 2);
  EXPECT_EQ(program->buffers[3].fill, Fill::ZeroKept);
}

TEST(Instantiate, EmptyDimsLeaveEmptyLaunchesOut) {
  const Module m = plan(
      "input x: fp32[B, D]\noutput y: fp32[B]\nlaunch first grid(B) block(1) args(x, y)\n"
      "launch second grid(ceil_div(B * D, 256)) block(1) args(x, y)");
  const auto no_rows = build(m, bind({{"B", 0}, {"D", 4}}), "float const*, float*");
  ASSERT_TRUE(no_rows) << no_rows.error().message;
  EXPECT_TRUE(no_rows->launches.empty());
  EXPECT_EQ(no_rows->buffers[0].bytes, 0);
  const auto no_columns = build(m, bind({{"B", 2}, {"D", 0}}), "float const*, float*");
  ASSERT_TRUE(no_columns) << no_columns.error().message;
  ASSERT_EQ(no_columns->launches.size(), 1u);
  EXPECT_EQ(no_columns->launches[0].kernel, "first");
}

TEST(Instantiate, RepeatsAlternateBuffers) {
  const Module m = plan(
      "output y: int32[N]\nscratch a: int32[N]\nscratch b: int32[N]\nrepeat p in 0..3\n"
      "launch k grid(p + 1) block(1) args(pick(p % 2, a, b), y, p)");
  const auto program = build(m, bind({{"N", 4}}), "int*, int*, int");
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->launches.size(), 3u);
  EXPECT_EQ(program->launches[0].params[0].buffer, 1);
  EXPECT_EQ(program->launches[1].params[0].buffer, 2);
  EXPECT_EQ(program->launches[2].params[0].buffer, 1);
  EXPECT_EQ(program->launches[2].grid.x, 3u);
  EXPECT_EQ(value_of<int32_t>(program->launches[2].params[2]), 2);
}

TEST(Instantiate, CooperativeGridsMustFit) {
  const Module m = plan(
      "output y: fp32[N]\nlaunch k grid(min(N, SMS * blocks_per_sm(k))) block(512) cooperative "
      "args(y)");
  Bindings bindings = bind({{"N", 100000}});
  bindings.sms = 10;
  const auto program = build(m, bindings, "float*", 64);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->launches[0].grid.x, 20u);
  EXPECT_TRUE(program->launches[0].cooperative);
}

TEST(Instantiate, ClustersReachTheLaunch) {
  const Module m = plan("output y: fp32[N]\nlaunch k grid(4, 2) block(32) cluster(2, 2) args(y)");
  const auto program = build(m, bind({{"N", 4}}), "float*");
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->launches[0].cluster, (Dim3{2, 2, 1}));
}

struct SignatureCase {
  const char* text;
  std::vector<const char*> bases;
};

TEST(Signature, ReadsDemangledNames) {
  const std::vector<SignatureCase> cases = {
      {"k()", {}},
      {"void k<1>(void)", {}},
      {"void rms<256, 2>(__half const*, __half*, int, float)",
       {"__half", "__half", "int", "float"}},
      {"void ns::k<(bool)1, ns::P<int, 4>, (A)3>(ns::P<int, 4> const*, unsigned long long)",
       {"ns::P<int, 4>", "unsigned long long"}},
      {"(anonymous namespace)::k(float const* __restrict__, float volatile*)", {"float", "float"}},
      {"void k<&(f(int))>(double const volatile*, char)", {"double", "char"}},
      {"void k<int>(float* const) [clone .kd]", {"float"}},
  };
  for (const SignatureCase& c : cases) {
    SCOPED_TRACE(c.text);
    const auto params = parse_signature(c.text);
    ASSERT_TRUE(params) << params.error().message;
    ASSERT_EQ(params->size(), c.bases.size());
    for (size_t i = 0; i < c.bases.size(); ++i) EXPECT_EQ((*params)[i].base, c.bases[i]);
  }
  for (const char* text : {"", "k", "k)", "(", ")", "k(int", "()"}) {
    EXPECT_FALSE(parse_signature(text)) << text;
  }
}

TEST(Signature, KnowsConstness) {
  const auto params = parse_signature(
      "k(float const*, float*, float* const, float const* const, float**, void (*)(int))");
  ASSERT_TRUE(params);
  EXPECT_TRUE((*params)[0].pointer && (*params)[0].to_const);
  EXPECT_TRUE((*params)[1].pointer && !(*params)[1].to_const);
  EXPECT_TRUE((*params)[2].pointer && !(*params)[2].to_const);
  EXPECT_TRUE((*params)[3].pointer && (*params)[3].to_const);
  EXPECT_EQ((*params)[4].base, "float*");
  EXPECT_FALSE((*params)[5].pointer);
}

struct Fit {
  const char* type;
  tensor::DType dtype;
  bool want;
};

TEST(Signature, PointeesFitTheirDtype) {
  using tensor::DType;
  const std::vector<Fit> cases = {
      {"float", DType::Fp32, true},
      {"float4", DType::Fp32, true},
      {"float2", DType::Fp16, false},
      {"__half2", DType::Fp16, true},
      {"unsigned short", DType::Fp16, true},
      {"unsigned short", DType::Bf16, true},
      {"unsigned int", DType::Fp16, false},
      {"uint4", DType::Fp16, true},
      {"int4", DType::Int8, true},
      {"uint2", DType::Fp32, true},
      {"int", DType::Uint32, false},
      {"int", DType::Fp32, true},
      {"long", DType::Int64, true},
      {"long long", DType::Int64, true},
      {"unsigned long", DType::Int64, false},
      {"signed char", DType::Int8, true},
      {"char", DType::Int8, true},
      {"unsigned char", DType::Fp8e4m3, true},
      {"__nv_fp8_e4m3", DType::Fp8e5m2, false},
      {"__nv_fp8x4_e5m2", DType::Fp8e5m2, true},
      {"__nv_fp4x2_e2m1", DType::Fp4e2m1x2, true},
      {"__nv_fp8_e8m0", DType::E8m0, true},
      {"bool", DType::Bool, true},
      {"unsigned char", DType::Bool, true},
      {"bool", DType::Uint8, false},
      {"void", DType::Fp64, true},
      {"double4_16a", DType::Fp64, true},
      {"__nv_bfloat162", DType::Bf16, true},
      {"std::byte", DType::Int32, true},
      {"Vec<4>", DType::Fp32, false},
      {"float*", DType::Fp32, false},
      {"ushort4", DType::Bf16, true},
      {"uchar4", DType::Uint8, true},
      {"longlong2", DType::Fp32, true},
  };
  for (const Fit& c : cases) {
    Buffer buffer;
    buffer.dtype = c.dtype;
    const auto params = parse_signature(std::string("k(") + c.type + " const*)");
    ASSERT_TRUE(params);
    EXPECT_EQ(pointer_mismatch((*params)[0], buffer).empty(), c.want)
        << c.type << " for " << tensor::dtype_name(c.dtype);
  }
}

TEST(Signature, IntegersMustFitTheirParameter) {
  struct Case {
    const char* type;
    int64_t value;
    bool want;
  };
  const std::vector<Case> cases = {
      {"int", INT32_MAX, true},
      {"int", int64_t{INT32_MAX} + 1, false},
      {"int", INT32_MIN, true},
      {"int", int64_t{INT32_MIN} - 1, false},
      {"unsigned int", UINT32_MAX, true},
      {"unsigned int", int64_t{UINT32_MAX} + 1, false},
      {"unsigned int", -1, false},
      {"long", INT64_MIN, true},
      {"unsigned long", INT64_MAX, true},
      {"unsigned long", -1, false},
      {"short", 32768, false},
      {"signed char", -128, true},
      {"unsigned char", 256, false},
      {"bool", 2, false},
      {"bool", 1, true},
      {"float", 1, false},
      {"double", 1, false},
      {"Shape", 1, false},
      {"int2", 1, false},
      {"int&", 1, false},
      {"int*", 1, false},
      {"void", 1, false},
  };
  for (const Case& c : cases) {
    const auto params = parse_signature(std::string("k(") + c.type + ", int)");
    ASSERT_TRUE(params);
    EXPECT_EQ(encode_integer((*params)[0], c.value).has_value(), c.want)
        << c.type << " " << c.value;
  }
}

}  // namespace
}  // namespace kw::kernel
