#include "compile/slices.h"

#include <gtest/gtest.h>

#include "compile/nvrtc_compiler.h"
#include "core/text.h"
#include "ports/image_pack.h"

namespace kw::compile {
namespace {

/// Enough code that slices are made.
std::string long_body(const std::string& statement) {
  std::string body;
  while (body.size() < 4000) body += "  " + statement + "\n";
  return body;
}

ports::CompileRequest sliced_request(const std::string& source, std::vector<std::string> kernels) {
  ports::CompileRequest request;
  request.source = source;
  request.file_name = "module.cu";
  request.target = "sm_90";
  request.kernels = std::move(kernels);
  request.defines = {{"TILE", 4}, {"TILE_2", 8}, {"UNUSED", 1}};
  return request;
}

std::vector<Slice> slices_of(const ports::CompileRequest& request) {
  return compile::slices_of(request, kernel_texts(request.source));
}

const std::string kFirst =
    "template <int kN>\n__global__ void __launch_bounds__(TILE * (32)) first(float* x) {\n" +
    long_body("x[threadIdx.x] = twice(x[threadIdx.x] * 1.25f);") + "}\n";
const std::string kSecond = "__global__ void second(float* x) {\n  Pair pair = {1, TILE_2};\n" +
                            long_body("x[threadIdx.x] *= pair.a + pair.b;") + "}\n";
const std::string kHelpers =
    "//! kernelwright 1\n"
    "#include <cuda_fp16.h>\n"
    "// Something.\n"
    "struct alignas(8) Pair {\n  float a, b;\n};\n"
    "constexpr int kAlways[] = {1, 2};\n"
    "__device__ __forceinline__ float half_of(float x) { return x / 2; }\n"
    "__device__ __forceinline__ float half_of(double x) { return x / 2; }\n"
    "template <typename T>\n__device__ T twice(T x) { return half_of(x) * 4; }\n";

TEST(Slices, HoldOneKernelAndWhatItNeeds) {
  const auto slices =
      slices_of(sliced_request(kHelpers + kFirst + kSecond, {"first<1>", "second", "first<2>"}));
  ASSERT_EQ(slices.size(), 2U);
  const ports::CompileRequest& one = slices[0].request;
  EXPECT_EQ(one.kernels, (std::vector<std::string>{"first<1>", "first<2>"}));
  EXPECT_EQ(one.defines, (std::vector<std::pair<std::string, int64_t>>{{"TILE", 4}}));
  EXPECT_EQ(one.source.substr(0, one.source.find("template <int kN>")),
            "#include <cuda_fp16.h>\n"
            "constexpr int kAlways[] = {1, 2};\n"
            "__device__ __forceinline__ float half_of(float x) { return x / 2; }\n"
            "__device__ __forceinline__ float half_of(double x) { return x / 2; }\n"
            "template <typename T>\n__device__ T twice(T x) { return half_of(x) * 4; }\n");
  EXPECT_EQ(std::vector<int>(slices[0].lines.begin(), slices[0].lines.begin() + 8),
            (std::vector<int>{2, 7, 8, 9, 10, 11, 12, 13}));
  EXPECT_EQ(split_lines(one.source).size(), slices[0].lines.size());
  const ports::CompileRequest& other = slices[1].request;
  EXPECT_EQ(other.source.find("twice"), std::string::npos);
  EXPECT_NE(other.source.find("struct alignas(8) Pair"), std::string::npos);
  EXPECT_EQ(other.defines, (std::vector<std::pair<std::string, int64_t>>{{"TILE_2", 8}}));
}

TEST(Slices, KeepWhatDependsOnACondition) {
  const std::string block =
      "#if __CUDA_ARCH__ >= 800\n__device__ float larger(float a) { return half_of(a); "
      "}\n#else\nstruct "
      "Older {};\n#endif\n";
  const auto slices =
      slices_of(sliced_request(block + kHelpers + kFirst + kSecond, {"first<1>", "second"}));
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_TRUE(slices[1].request.source.starts_with(block));
  EXPECT_NE(slices[1].request.source.find("float half_of(double x)"), std::string::npos);
}

TEST(Slices, AreTheSameInSourcesThatShareAKernel) {
  const auto one = slices_of(sliced_request(kHelpers + kFirst + kSecond, {"first<1>", "second"}));
  const auto two = slices_of(sliced_request(
      "// other\n" + kHelpers + "struct More {};\n" + kFirst + replace_all(kSecond, "*=", "+="),
      {"first<1>", "second"}));
  ASSERT_EQ(one.size(), 2U);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(one[0].request.source, two[0].request.source);
  EXPECT_NE(one[0].lines, two[0].lines);
  EXPECT_NE(one[1].request.source, two[1].request.source);
}

TEST(Slices, AreNotMadeOfWhatMustStayTogether) {
  const std::string all = kHelpers + kFirst + kSecond;
  struct Row {
    const char* why;
    std::string source;
    std::vector<std::string> kernels;
  };
  const Row rows[] = {
      {"one kernel", all, {"first<1>", "first<2>"}},
      {"a kernel that is not there", all, {"first<1>", "third"}},
      {"little code", "__global__ void a() {}\n__global__ void b() {}\n", {"a", "b"}},
      {"a variable", "__device__ int count;\n" + all, {"first<1>", "second"}},
      {"a variable with its record",
       "struct {\n  int a;\n} together;\n" + all,
       {"first<1>", "second"}},
      {"constant memory",
       "__constant__ float table[4] = {1, 2, 3, 4};\n" + all,
       {"first<1>", "second"}},
      {"a namespace", "namespace inner {\n" + all + "}\n", {"inner::first<1>", "inner::second"}},
      {"C linkage", "extern \"C\" {\n" + all + "}\n", {"first<1>", "second"}},
      {"a kernel on a condition", "#if TILE > 2\n" + all + "#endif\n", {"first<1>", "second"}},
      {"a condition without end", "#if TILE > 2\n#else\n" + all, {"first<1>", "second"}},
      {"a variable on a condition",
       "#ifdef X\n__device__ int count;\n#endif\n" + all,
       {"first<1>", "second"}},
      {"a declaration", "__global__ void second(float* x);\n" + all, {"first<1>", "second"}},
      {"no end", all + "struct {", {"first<1>", "second"}},
  };
  for (const Row& row : rows)
    EXPECT_TRUE(slices_of(sliced_request(row.source, row.kernels)).empty()) << row.why;
  EXPECT_FALSE(slices_of(sliced_request(all, {"first<1>", "second"})).empty());
}

ports::Compiled ptx_part(const std::string& kernel, const std::string& text) {
  ports::Compiled part;
  part.image = text;
  part.target = "sm_90";
  part.compiler = "NVRTC";
  part.seconds = 1;
  part.kernels = {{kernel, "_" + kernel, kernel + "()", {}}};
  part.messages = {{ports::CompileMessage::Severity::Warning, 2, 1, "unused"}};
  return part;
}

std::string ptx_text(const std::string& kernel, const std::string& table) {
  return "//\n// Generated\n//\n\n.version 9.0\n.target sm_90\n.address_size 64\n\n"
         ".global .align 4 .b8 table[4] = {" +
         table +
         "};\n"
         "\t// .globl\t_" +
         kernel +
         "\n"
         ".visible .entry _" +
         kernel +
         "(\n\t.param .u64 p\n)\n.maxntid 32, 1, 1\n{\n"
         "\t.loc\t2 2 5\n\t{ .reg .b32 t; }\n\t.loc 1 7 1, function_name $L__info_string0, "
         "inlined_at 2 1 3\n\tret;\n\n}\n"
         "\t.file\t1 \"" +
         kernel +
         ".h\"\n\t.file\t2 \"module.cu\"\n"
         "\t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 97,0\n\n\t}\n";
}

TEST(Joined, PtxIsOneTextWithTheLinesOfTheSource) {
  const ports::CompileRequest whole = sliced_request("", {"b", "a"});
  const std::vector<Slice> slices = {{{}, {10, 20}}, {{}, {30, 40}}};
  const auto made = joined(
      whole, slices,
      {ptx_part("a", ptx_text("a", "1, 2, 3, 4")), ptx_part("b", ptx_text("b", "1, 2, 3, 4"))});
  ASSERT_TRUE(made);
  const auto entry = [](const std::string& name, const char* file, const char* lines,
                        const char* strings) {
    return ".visible .entry _" + name + "(\n\t.param .u64 p\n)\n.maxntid 32, 1, 1\n{\n\t.loc 2 " +
           lines[0] + "0 5\n" + "\t{ .reg .b32 t; }\n\t.loc " + file +
           " 7 1, function_name $L__info_" + strings + "_string0, inlined_at 2 " + lines[1] +
           "0 3\n\tret;\n\n}\n\n";
  };
  EXPECT_EQ(made->image,
            "//\n// Joined of kernels compiled one by one\n//\n\n.version 9.0\n.target "
            "sm_90\n.address_size 64\n\n"
            ".global .align 4 .b8 table[4] = {1, 2, 3, 4};\n\n" +
                entry("a", "1", "21", "1") + entry("b", "3", "43", "2") +
                "\t.file\t1 \"a.h\"\n\t.file\t2 \"module.cu\"\n\t.file\t3 \"b.h\"\n"
                "\t.section\t.debug_str\n\t{\n$L__info_1_string0:\n.b8 "
                "97,0\n$L__info_2_string0:\n.b8 97,0\n\t}\n");
  ASSERT_EQ(made->kernels.size(), 2U);
  EXPECT_EQ(made->kernels[0].entry, "_b");
  ASSERT_EQ(made->messages.size(), 2U);
  EXPECT_EQ(made->messages[1].line, 40);
  EXPECT_EQ(made->seconds, 2);
}

TEST(Joined, RefusesWhatDoesNotFitTogether) {
  const ports::CompileRequest whole = sliced_request("", {"a", "b"});
  const std::vector<Slice> slices = {{{}, {10, 20}}, {{}, {30, 40}}};
  const std::string a = ptx_text("a", "1"), b = ptx_text("b", "1");
  EXPECT_TRUE(joined(whole, slices, {ptx_part("a", a), ptx_part("b", b)}));
  for (const std::string& other :
       {ptx_text("b", "2"), a, replace_all(b, "9.0", "8.0"), b + ".func f()\n{\n\tret;\n}\n",
        b + "{", replace_all(b, ".debug_str", ".debug_line")})
    EXPECT_FALSE(joined(whole, slices, {ptx_part("a", a), ptx_part("b", other)})) << other;
  EXPECT_FALSE(joined(whole, slices, {ptx_part("a", a), ptx_part("c", b)}));
}

TEST(Joined, CubinsAreAPack) {
  ports::CompileRequest whole = sliced_request("", {"a", "b"});
  whole.image = ports::ImageKind::Cubin;
  const auto made =
      joined(whole, {{{}, {1}}, {{}, {1}}}, {ptx_part("a", "one"), ptx_part("b", "two")});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->kind, ports::ImageKind::Cubin);
  EXPECT_EQ(ports::images_in(made->image), (std::vector<std::string_view>{"one", "two"}));
}

/// The instructions of every kernel, without line and debug labels.
std::map<std::string, std::string> code_by_kernel(const std::string& ptx) {
  std::map<std::string, std::string> kernels;
  std::string name;
  for (const std::string_view line : split_lines(ptx)) {
    const std::string_view plain = trim(line);
    if (plain.find(".entry ") != std::string_view::npos)
      name = plain.substr(plain.find(".entry ") + 7);
    if (plain.starts_with(".file")) break;
    if (name.empty() || plain.empty() || plain.starts_with("//")) continue;
    std::string text(plain);
    // Blocks are numbered by the kernel's place in the text: $L__BB3_7.
    if (const size_t label = text.find("$L__BB"); label != std::string::npos)
      text.erase(label + 6, text.find('_', label + 6) - label - 6);
    if (text.starts_with(".loc")) text = text.substr(0, text.find(", function_name"));
    kernels[name] += replace_all(std::move(text), "\t", " ") + "\n";
  }
  return kernels;
}

TEST(NvrtcSlices, JoinedTheyAreTheWhole) {
  const Toolbox box = find_tools({.programs = false});
  if (!box.nvrtc) GTEST_SKIP() << "no NVRTC on this machine";
  NvrtcCompiler compiler(*box.nvrtc, box.headers);
  const std::string helpers = replace_all(kHelpers, "#include <cuda_fp16.h>\n", "");
  const ports::CompileRequest whole = sliced_request(
      helpers + kFirst + "// between\n" + replace_all(kSecond, "pair.a +", "sinf(pair.a) +"),
      {"first<1>", "second", "first<2>"});
  const auto at_once = compiler.compile(whole);
  ASSERT_TRUE(at_once && at_once->compiled);
  const std::vector<Slice> slices = slices_of(whole);
  ASSERT_EQ(slices.size(), 2U);
  std::vector<ports::Compiled> parts;
  for (const Slice& slice : slices) {
    const auto part = compiler.compile(slice.request);
    ASSERT_TRUE(part && part->compiled);
    parts.push_back(*part->compiled);
  }
  const auto made = joined(whole, slices, parts);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->kernels.size(), 3U);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(made->kernels[i].entry, at_once->compiled->kernels[i].entry);
  const auto one = code_by_kernel(at_once->compiled->image), two = code_by_kernel(made->image);
  EXPECT_EQ(one.size(), 3U);
  EXPECT_EQ(one, two);
}

}  // namespace
}  // namespace kw::compile
