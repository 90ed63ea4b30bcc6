#include "compile/program_compiler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "compile/entries.h"
#include "os/files.h"
#include "os/landlock.h"

namespace kw::compile {
namespace {

using ports::CompileOutcome;
using ports::CompileRequest;
using ports::ImageKind;

const Toolbox& tools() {
  static const Toolbox box = find_tools();
  return box;
}

CompileRequest request(std::string source, std::vector<std::string> kernels, ImageKind image) {
  CompileRequest request;
  request.source = std::move(source);
  request.file_name = "module.cu";
  request.target = "sm_90";
  request.image = image;
  request.kernels = std::move(kernels);
  return request;
}

std::string text_of(const Result<CompileOutcome>& outcome) {
  if (!outcome) return "Error: " + outcome.error().message;
  if (outcome->compiled) return "compiled";
  std::string text = outcome->failed->timed_out ? "timed out\n"
                     : outcome->failed->crashed ? "crashed\n"
                                                : "";
  for (const auto& m : outcome->failed->messages)
    text += std::to_string(m.line) + ": " + m.text + "\n";
  return text;
}

/// A compiler that is a shell script.
Result<CompileOutcome> compiled_by(const std::string& script) {
  Dialect dialect;
  dialect.shown_as = "a script";
  dialect.path = "/bin/sh";
  dialect.command = [script](const CompileRequest&, const std::string&, const std::string&) {
    return std::vector<std::string>{"/bin/sh", "-c", script};
  };
  return ProgramCompiler(dialect).compile(request("__global__ void k() {}", {"k"}, ImageKind::Ptx));
}

TEST(ProgramCompiler, AFailureOfTheMachineIsNoVerdict) {
  for (const char* script : {"kill -9 $$", "exit 137", "kill -TERM $$",
                             "echo 'x: No space left on device' >&2; exit 1"}) {
    const auto outcome = compiled_by(script);
    ASSERT_FALSE(outcome) << script;
    EXPECT_EQ(outcome.error().blame, Blame::Environment) << script;
  }
  const auto crashed = compiled_by("kill -SEGV $$");
  ASSERT_TRUE(crashed) << crashed.error().message;
  EXPECT_TRUE(crashed->failed && crashed->failed->crashed) << "its own crash is the source's";
}

TEST(Entries, AreAppendedAndTakenOut) {
  EXPECT_EQ(with_entries("x", {"k<1>", "n::f"}),
            "x\n#line 1 \"kw_entries\"\n"
            "__device__ __attribute__((used)) auto kw_entry_0 = &k<1>;\n"
            "__device__ __attribute__((used)) auto kw_entry_1 = &n::f;\n");
  std::string ptx =
      ".visible .global .align 8 .u64 kw_entry_1 = _ZN1n1fEv;\nkeep\n"
      ".global .align 8 .u64 kw_entry_0 = _Z1kILi1EEvv;\n";
  std::vector<std::string> entries;
  ASSERT_TRUE(take_entries(&ptx, 2, &entries));
  EXPECT_EQ(entries, (std::vector<std::string>{"_Z1kILi1EEvv", "_ZN1n1fEv"}));
  EXPECT_EQ(ptx, "keep\n");
  EXPECT_FALSE(take_entries(&ptx, 1, &entries));
}

constexpr const char* kSource = R"(//! kernelwright 1
namespace inner {
template <int N, typename T>
__global__ void __launch_bounds__(64) add(const T* x, T* y, int n) {
  __shared__ T tile[N];
  tile[threadIdx.x % N] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) y[threadIdx.x] = tile[(threadIdx.x + 1) % N] + AMOUNT;
}
}
__global__ void plain(int* p) { *p = AMOUNT; }
)";

/// Requirements for both programs; each test below runs it with one of them.
void check_compiler(ports::Compiler& compiler, bool cubins) {
  CompileRequest asked = request(kSource, {"inner::add<32, float>", "plain"}, ImageKind::Ptx);
  asked.defines = {{"AMOUNT", 3}};
  const auto ptx = compiler.compile(asked);
  ASSERT_EQ(text_of(ptx), "compiled");
  const auto& kernels = ptx->compiled->kernels;
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].signature, "void inner::add<32, float>(float const*, float*, int)");
  EXPECT_EQ(kernels[0].resources.static_shared, 128);
  EXPECT_EQ(kernels[0].resources.max_threads, 64);
  EXPECT_EQ(kernels[1].entry, "_Z5plainPi");
  const std::string& text = ptx->compiled->image;
  EXPECT_NE(text.find(".entry " + kernels[0].entry), std::string::npos);
  EXPECT_NE(text.find("\"module.cu\""), std::string::npos) << "lines must lead to the module";
  EXPECT_EQ(text.find("kw_entry"), std::string::npos);
  EXPECT_EQ(text.find("/tmp/"), std::string::npos) << "PTX names a temporary folder";
  EXPECT_EQ(compiler.compile(asked)->compiled->image, text) << "two runs must agree";
  if (cubins) {
    asked.image = ImageKind::Cubin;
    const auto cubin = compiler.compile(asked);
    ASSERT_EQ(text_of(cubin), "compiled");
    EXPECT_EQ(cubin->compiled->image.substr(1, 3), "ELF");
    EXPECT_GT(cubin->compiled->kernels[0].resources.registers, 0);
    EXPECT_EQ(cubin->compiled->kernels[0].resources.max_threads, 64);
  }
}

void check_messages(ports::Compiler& compiler, const char* undefined) {
  const auto failing = [&](const char* source, std::vector<std::string> kernels) {
    CompileRequest asked = request(source, std::move(kernels), ImageKind::Ptx);
    asked.defines = {{"ONE", 1}};
    return text_of(compiler.compile(asked));
  };
  EXPECT_NE(failing("//! x\n__global__ void k(int* p) {\n  *p = nope;\n}\n", {"k"}).find(undefined),
            std::string::npos)
      << failing("//! x\n__global__ void k(int* p) {\n  *p = nope;\n}\n", {"k"});
  EXPECT_NE(failing("__global__ void k() {}\n", {"k", "other<3>"})
                .find("0: launched kernel 'other<3>': "),
            std::string::npos);
  EXPECT_NE(failing("#include <no_such_header.h>\n", {}).find("1: "), std::string::npos);
}

void check_limits(ports::Compiler& compiler) {
  CompileRequest slow = request(R"(
constexpr long f(long n) { long s = 0; for (long i = 0; i < n; ++i) s += i % 7; return s; }
template <long N> struct V { static constexpr long v = f(100000 + N) + V<N - 1>::v; };
template <> struct V<0> { static constexpr long v = 0; };
__global__ void k(long* p) { *p = V<400>::v; })",
                                {"k"}, ImageKind::Ptx);
  slow.timeout_seconds = 0.05;
  EXPECT_TRUE(text_of(compiler.compile(slow)).starts_with("timed out\n0: compiling took more than"))
      << text_of(compiler.compile(slow));
}

void check_secrets(ports::Compiler& compiler) {
  if (!os::landlock_support().files) return;
  const std::string secret = "/tmp/kw_secret_" + std::to_string(::getpid()) + ".h";
  ASSERT_TRUE(os::write_file(secret, "the secret word is xyzzy\n"));
  ASSERT_EQ(text_of(compiler.compile(request("__global__ void k() {}\n", {"k"}, ImageKind::Ptx))),
            "compiled");
  for (const std::string& form :
       {"#include <" + secret + ">", "#include \"" + secret + "\"",
        "#include \"/proc/self/root" + secret + "\"", "#define F <" + secret + ">\n#include F"}) {
    const auto outcome =
        compiler.compile(request(form + "\n__global__ void k() {}\n", {"k"}, ImageKind::Ptx));
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_TRUE(outcome->failed) << form;
    EXPECT_EQ((outcome->failed->log + text_of(outcome)).find("xyzzy"), std::string::npos) << form;
  }
  ::unlink(secret.c_str());
}

class Nvcc : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!tools().nvcc) GTEST_SKIP() << "no nvcc on this machine";
    compiler_ = make_nvcc_compiler(*tools().nvcc, tools().ptxas);
  }
  std::unique_ptr<ports::Compiler> compiler_;
};

TEST_F(Nvcc, Compiles) { check_compiler(*compiler_, tools().ptxas.has_value()); }
TEST_F(Nvcc, SaysWhatIsWrong) { check_messages(*compiler_, "3: identifier \"nope\" is undefined"); }
TEST_F(Nvcc, IsStoppedInTime) { check_limits(*compiler_); }
TEST_F(Nvcc, ReadsNoSecrets) { check_secrets(*compiler_); }
TEST_F(Nvcc, BadAssemblyIsFoundInTheModule) {
  if (!tools().ptxas) GTEST_SKIP() << "no ptxas on this machine";
  EXPECT_NE(text_of(compiler_->compile(request("__global__ void k() {\n  asm(\"bogus;\");\n}\n",
                                               {"k"}, ImageKind::Cubin)))
                .find("2: Not a name of any known instruction: 'bogus'"),
            std::string::npos);
}
// nvcc itself says nothing: it leaves host code out of the PTX.
TEST_F(Nvcc, RefusesHostCode) {
  for (const char* host : {"void f(int x) { try { throw x; } catch (...) {} }",
                           "struct T { T() { for (int& i : v) i = 3; } int v[9]; };\nT table;"}) {
    const auto outcome = compiler_->compile(
        request(std::string(host) + "\n__global__ void k() {}\n", {"k"}, ImageKind::Ptx));
    EXPECT_NE(text_of(outcome).find("of the host: nvcc takes it for host code"), std::string::npos)
        << host;
  }
  const auto honest = compiler_->compile(
      request("constexpr int kN = 3;\ntemplate <int N> __device__ int f() { return N; }\n"
              "__global__ void k(int* p) { *p = f<kN>(); }\n",
              {"k"}, ImageKind::Ptx));
  EXPECT_TRUE(honest && honest->compiled) << text_of(honest);
}
TEST_F(Nvcc, UnknownTargetIsTheMachinesFault) {
  CompileRequest asked = request("__global__ void k() {}", {"k"}, ImageKind::Ptx);
  asked.target = "sm_999";
  const auto outcome = compiler_->compile(asked);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("does not know sm_999"), std::string::npos)
      << outcome.error().message;
}

class Clang : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!tools().clang) GTEST_SKIP() << "no clang of version 19 or newer on this machine";
    auto made = make_clang_compiler(*tools().clang, tools().ptxas);
    ASSERT_TRUE(made) << made.error().message;
    compiler_ = std::move(made).value();
  }
  std::unique_ptr<ports::Compiler> compiler_;
};

TEST_F(Clang, Compiles) { check_compiler(*compiler_, tools().ptxas.has_value()); }
TEST_F(Clang, SaysWhatIsWrong) {
  check_messages(*compiler_, "3: use of undeclared identifier 'nope'");
}
TEST_F(Clang, IsStoppedInTime) { check_limits(*compiler_); }
TEST_F(Clang, ReadsNoSecrets) { check_secrets(*compiler_); }
TEST_F(Clang, MakesNoCubinsWithoutPtxas) {
  auto alone = make_clang_compiler(*tools().clang, std::nullopt);
  ASSERT_TRUE(alone);
  const auto outcome =
      (*alone)->compile(request("__global__ void k() {}", {"k"}, ImageKind::Cubin));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().blame, Blame::Environment);
}
// As with NVRTC: code without annotation is device code, and is checked as such.
TEST_F(Clang, TakesWhatHasNoAnnotationForTheDevice) {
  const auto outcome_of = [&](const std::string& rest) {
    return compiler_->compile(
        request("struct Pair {\n"
                "  float a, b;\n"
                "  Pair(float x) : a(x), b(x + 1) {}\n"
                "};\n"
                "const float table[2] = {1.0f, 2.0f};\n"
                "constexpr int kTwo = 2;\n"
                "extern __shared__ float dynamic[];\n"
                "template <typename F>\n"
                "float twice(F f, float x) { return kTwo * f(x); }\n"
                "float helper(float x) { return Pair(x).b; }\n" +
                    rest +
                    "\n__global__ void k(float* y, int n) {\n"
                    "  __shared__ float own[4];\n"
                    "  own[n] = twice(helper, y[0]) + table[n];\n"
                    "  y[1] = own[0] + dynamic[n];\n"
                    "}\n",
                {"k"}, ImageKind::Ptx));
  };
  const auto good = outcome_of("");
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_TRUE(good->compiled) << good->failed->messages.front().text;
  for (const auto& [rest, words] :
       {std::pair{"void f() { throw 1; }", "exceptions"},
        std::pair{"Pair pair(3.0f * dynamic[0]);", "dynamic initialization"}}) {
    const auto bad = outcome_of(rest);
    ASSERT_TRUE(bad) << bad.error().message;
    ASSERT_TRUE(bad->failed) << rest;
    EXPECT_NE(bad->failed->messages.front().text.find(words), std::string::npos)
        << bad->failed->messages.front().text;
    EXPECT_EQ(bad->failed->messages.front().line, 11);
  }
}
// Only the leader has a value for the shuffle. The undefined values of the others must not make the
// optimiser assume that only the leader exists.
TEST_F(Clang, LanesMayPassUndefinedValues) {
  const auto outcome =
      compiler_->compile(request("__global__ void k(int* y) {\n"
                                 "  int v;\n"
                                 "  if (threadIdx.x % 32 == 0) v = atomicAdd(y, 32);\n"
                                 "  v = __shfl_sync(0xffffffffu, v, 0);\n"
                                 "  y[1 + v + threadIdx.x % 32] = v;\n"
                                 "}\n",
                                 {"k"}, ImageKind::Ptx));
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->compiled);
  const std::string& ptx = outcome->compiled->image;
  EXPECT_NE(ptx.find("atom.global.add"), std::string::npos) << ptx;
  EXPECT_NE(ptx.find("%tid.x"), std::string::npos) << "every lane adds:\n" << ptx;
  EXPECT_NE(ptx.find("@%p"), std::string::npos) << "every lane adds:\n" << ptx;
}
// The virtual GPU must find the error, so the code before it must be kept too.
TEST_F(Clang, KeepsWhatGoesWrong) {
  const auto outcome =
      compiler_->compile(request("__global__ void k(int* y) {\n"
                                 "  int* nothing = nullptr;\n"
                                 "  *nothing = 1;\n"
                                 "  y[threadIdx.x] = 2;\n"
                                 "}\n",
                                 {"k"}, ImageKind::Ptx));
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->compiled);
  const std::string& ptx = outcome->compiled->image;
  EXPECT_NE(ptx.find("st.global"), std::string::npos) << ptx;
  EXPECT_NE(ptx.find("st.u32"), std::string::npos) << ptx;
}
TEST_F(Clang, UnknownTargetIsTheMachinesFault) {
  CompileRequest asked = request("__global__ void k() {}", {"k"}, ImageKind::Ptx);
  asked.target = "sm_999";
  const auto outcome = compiler_->compile(asked);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("does not know sm_999"), std::string::npos)
      << outcome.error().message;
}

}  // namespace
}  // namespace kw::compile
