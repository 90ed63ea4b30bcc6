#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <thread>

#include "compile/cubin.h"
#include "compile/nvrtc_compiler.h"
#include "os/files.h"
#include "ptx/parse.h"

namespace kw::compile {
namespace {

using ports::CompileMessage;
using ports::CompileOutcome;
using ports::CompileRequest;
using ports::ImageKind;

class Nvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    static const Toolbox box = find_tools({.programs = false});
    if (!box.nvrtc) GTEST_SKIP() << "no NVRTC on this machine";
    box_ = &box;
  }
  void need_headers() {
    if (!box_->headers.runtime || !box_->headers.cccl)
      GTEST_SKIP() << "no CUDA headers on this machine";
  }
  NvrtcCompiler compiler(NvrtcOptions options = {}) {
    return NvrtcCompiler(*box_->nvrtc, box_->headers, std::move(options));
  }
  static CompileRequest request(std::string source, std::vector<std::string> kernels,
                                ImageKind image = ImageKind::Ptx) {
    CompileRequest request;
    request.source = std::move(source);
    request.file_name = "module.cu";
    request.target = "sm_90";
    request.image = image;
    request.kernels = std::move(kernels);
    return request;
  }
  static CompileOutcome must_run(ports::Compiler& compiler, const CompileRequest& request) {
    auto outcome = compiler.compile(request);
    EXPECT_TRUE(outcome) << outcome.error().message;
    if (!outcome) return {};
    EXPECT_NE(outcome->compiled.has_value(), outcome->failed.has_value());
    return std::move(outcome).value();
  }
  static std::string text_of(const CompileOutcome& outcome) {
    std::string text;
    if (!outcome.failed) return "compiled";
    for (const CompileMessage& m : outcome.failed->messages) {
      text += std::to_string(m.line) + ":" + std::to_string(m.column) + " " + m.text + "\n";
    }
    return text;
  }
  const Toolbox* box_ = nullptr;
};

constexpr const char* kScale = R"(//! kernelwright 1
template <int N>
__global__ void __launch_bounds__(128) scale(const float* x, float* y, int n) {
  __shared__ float tile[N];
  tile[threadIdx.x % N] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) y[threadIdx.x] = tile[(threadIdx.x + 1) % N] * FACTOR;
}
)";

TEST_F(Nvrtc, CompilesToPtxWithNamesAndResources) {
  auto nvrtc = compiler();
  CompileRequest asked = request(kScale, {"scale<64>", "scale<FACTOR * 2>"});
  asked.defines = {{"FACTOR", 7}};
  const CompileOutcome outcome = must_run(nvrtc, asked);
  ASSERT_TRUE(outcome.compiled) << text_of(outcome);
  const ports::Compiled& got = *outcome.compiled;
  EXPECT_NE(got.image.find(".target sm_90"), std::string::npos);
  EXPECT_NE(got.image.find("\"module.cu\""), std::string::npos) << "the .file line shows no folder";
  ASSERT_EQ(got.kernels.size(), 2U);
  EXPECT_EQ(got.kernels[0].entry, "_Z5scaleILi64EEvPKfPfi");
  EXPECT_EQ(got.kernels[0].signature, "void scale<64>(float const*, float*, int)");
  EXPECT_EQ(got.kernels[0].resources.static_shared, 256);
  EXPECT_EQ(got.kernels[0].resources.max_threads, 128);
  EXPECT_EQ(got.kernels[1].signature, "void scale<14>(float const*, float*, int)");
  EXPECT_EQ(got.kernels[1].resources.static_shared, 56);
}

TEST_F(Nvrtc, TellsRegistersWhereBlocksMayWaitForEachOther) {
  auto nvrtc = compiler();
  const char* plain = "__global__ void k(int* y) { y[threadIdx.x] = 1; }\n";
  const char* waits =
      "__global__ void k(int* y) { while (*(volatile int*)y == 0) {} __threadfence(); y[1] = 2; "
      "}\n";
  const CompileOutcome a = must_run(nvrtc, request(plain, {"k"}, ImageKind::Ptx));
  const CompileOutcome b = must_run(nvrtc, request(waits, {"k"}, ImageKind::Ptx));
  ASSERT_TRUE(a.compiled && b.compiled);
  EXPECT_EQ(a.compiled->kernels[0].resources.registers, -1);
  EXPECT_GT(b.compiled->kernels[0].resources.registers, 0);
}

TEST_F(Nvrtc, CompilesToCubinForEveryTarget) {
  auto nvrtc = compiler();
  for (const char* target : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100",
                             "sm_100a", "sm_120", "sm_120a"}) {
    CompileRequest asked = request(kScale, {"scale<64>"}, ImageKind::Cubin);
    asked.defines = {{"FACTOR", 7}};
    asked.target = target;
    const CompileOutcome outcome = must_run(nvrtc, asked);
    ASSERT_TRUE(outcome.compiled) << target << text_of(outcome);
    EXPECT_EQ(outcome.compiled->image.substr(0, 4),
              "\x7f"
              "ELF");
    const ports::KernelResources& resources = outcome.compiled->kernels[0].resources;
    EXPECT_GT(resources.registers, 0);
    EXPECT_EQ(resources.static_shared, 256 + (resources.static_shared > 1024 ? 1024 : 0)) << target;
    EXPECT_EQ(resources.spill_store_bytes, 0);
    EXPECT_EQ(resources.max_threads, 128) << target;
    // Damaged images must not crash the reader.
    std::string image = outcome.compiled->image;
    for (size_t cut = 0; cut < image.size(); cut += 97) launch_bounds_of(image.substr(0, cut));
    for (size_t i = 0; i < image.size(); i += 3) {
      std::string bad = image.substr(0, 4096);
      if (i >= bad.size()) break;
      bad[i] ^= '\x5a';
      launch_bounds_of(bad);
    }
    EXPECT_EQ(resources.stack_bytes, 0);
  }
}

TEST_F(Nvrtc, SpillsAndStackAreReported) {
  auto nvrtc = compiler();
  const CompileOutcome outcome = must_run(nvrtc, request(R"(
__global__ void k(int* p, int n) { int a[64]; for (int i = 0; i < 64; ++i) a[i] = p[i];
  for (int i = 0; i < n; ++i) a[a[i & 63] & 63] ^= i;
  p[0] = a[n & 63];
})",
                                                         {"k"}, ImageKind::Cubin));
  ASSERT_TRUE(outcome.compiled) << text_of(outcome);
  EXPECT_EQ(outcome.compiled->kernels[0].resources.stack_bytes, 256);
}

TEST_F(Nvrtc, UnknownTargetIsTheMachinesFault) {
  auto nvrtc = compiler();
  for (const char* target : {"sm_50", "sm_999"}) {
    CompileRequest asked = request("__global__ void k() {}", {"k"}, ImageKind::Cubin);
    asked.target = target;
    const auto outcome = nvrtc.compile(asked);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().blame, Blame::Environment);
    EXPECT_NE(outcome.error().message.find(std::string("for ") + target + ": it supports sm_"),
              std::string::npos)
        << outcome.error().message;
  }
}

TEST_F(Nvrtc, MessagesCarryTheModulesLines) {
  const struct {
    const char* source;
    std::vector<std::string> kernels;
    const char* message;
  } cases[] = {
      {"//! x\n__global__ void k(int* p) {\n  *p = nope;\n}\n",
       {"k"},
       "3:8 identifier \"nope\" is undefined\n"},
      {"__global__ void k() {}\n",
       {"other<3>"},
       "0:0 launched kernel 'other<3>': identifier \"other\" is undefined\n"},
      {"__device__ void k() {}\n",
       {"k"},
       "0:0 launched kernel 'k': it is not a __global__ function\n"},
      {"template <int N> __global__ void k() {}\n",
       {"k"},
       "launched kernel 'k': it is a template or overloaded"},
      {"__global__ void k() {\n  asm(\"bogus;\");\n}\n",
       {"k"},
       "2:0 Not a name of any known instruction: 'bogus'"},
      {"#include <no_such_header.h>\n", {}, "1:28 cannot open source file \"no_such_header.h\""},
      {"#include <crt/no_such.h>\n", {}, "pip install nvidia-cuda-crt"},
  };
  auto nvrtc = compiler();
  for (const auto& c : cases) {
    CompileRequest asked = request(c.source, c.kernels, ImageKind::Cubin);
    asked.defines = {{"UNUSED_ONE", 1}, {"UNUSED_TWO", 2}};
    const std::string text = text_of(must_run(nvrtc, asked));
    EXPECT_NE(text.find(c.message), std::string::npos) << c.source << text;
  }
}

TEST_F(Nvrtc, WarningsComeWithSuccess) {
  auto nvrtc = compiler();
  const CompileOutcome outcome =
      must_run(nvrtc, request("__global__ void k() {\n  int unused;\n}\n", {"k"}));
  ASSERT_TRUE(outcome.compiled);
  ASSERT_EQ(outcome.compiled->messages.size(), 1U);
  EXPECT_EQ(outcome.compiled->messages[0].severity, CompileMessage::Severity::Warning);
  EXPECT_EQ(outcome.compiled->messages[0].line, 2);
}

TEST_F(Nvrtc, ImageDoesNotDependOnFolderOrProcess) {
  const char* source =
      "namespace { __device__ int hidden[3]; __global__ void k(int* p) { *p = hidden[*p]; } }\n"
      "static __global__ void s(int* p) { *p = hidden[1]; }\n";
  char before[4096];
  ASSERT_NE(::getcwd(before, sizeof(before)), nullptr);
  std::string images[2];
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(::chdir(i == 0 ? "/usr" : "/tmp"), 0);
    auto nvrtc = compiler();
    const CompileOutcome outcome = must_run(nvrtc, request(source, {"k", "s"}));
    ASSERT_TRUE(outcome.compiled) << text_of(outcome);
    images[i] = outcome.compiled->image;
    for (const auto& kernel : outcome.compiled->kernels) {
      EXPECT_NE(images[i].find(".entry " + kernel.entry), std::string::npos) << kernel.entry;
    }
  }
  ASSERT_EQ(::chdir(before), 0);
  EXPECT_EQ(images[0], images[1]);
}

constexpr const char* kGroupsSource = R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
namespace {
__device__ float factor = 2;
__global__ void block(const float* x, float* y) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const float sum = cg::reduce(tile, x[threadIdx.x] * factor, cg::plus<float>());
  if (tile.thread_rank() == 0) y[tile.meta_group_rank()] = sum;
}
}
static __global__ void grid(float* y) {
  cg::this_grid().sync();
  const auto active = cg::coalesced_threads();
  if (active.thread_rank() == 0) y[0] = active.size() * factor;
}
)";
constexpr const char* kCubSource = R"(
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
namespace {
struct Larger { __device__ float operator()(float a, float b) const { return a > b ? a : b; } };
template <int N> __global__ void all(const float* x, float* y) {
  __shared__ typename cub::BlockReduce<float, N>::TempStorage reduce;
  __shared__ typename cub::BlockScan<int, N>::TempStorage scan;
  __shared__ typename cub::WarpReduce<float>::TempStorage warp[N / 32];
  const float largest = cub::BlockReduce<float, N>(reduce).Reduce(x[threadIdx.x], Larger());
  int before = threadIdx.x;
  cub::BlockScan<int, N>(scan).ExclusiveSum(before, before);
  y[threadIdx.x] = largest + before + cub::WarpReduce<float>(warp[threadIdx.x / 32]).Sum(x[0]);
}
}
)";

// Their headers declare hundreds of names with internal linkage.
TEST_F(Nvrtc, GroupsAndCubStayPrograms) {
  need_headers();
  const struct {
    const char* source;
    std::vector<std::string> kernels;
  } cases[] = {{kGroupsSource, {"block", "grid"}}, {kCubSource, {"all<128>"}}};
  for (const auto& c : cases) {
    std::string images[2];
    for (std::string& image : images) {
      auto nvrtc = compiler({.workers = 1});
      const CompileOutcome outcome = must_run(nvrtc, request(c.source, c.kernels));
      ASSERT_TRUE(outcome.compiled) << text_of(outcome);
      image = outcome.compiled->image;
      const auto module = ptx::parse(image);
      ASSERT_TRUE(module) << module.error().message;
      for (const ports::CompiledKernel& kernel : outcome.compiled->kernels)
        EXPECT_GE(module->find_function(kernel.entry), 0) << kernel.entry;
      for (const char* mark : {"_INTERNAL_", "_GLOBAL__N__"})
        EXPECT_EQ(image.find(mark), std::string::npos) << image.substr(image.find(mark), 200);
    }
    EXPECT_EQ(images[0], images[1]) << "a process number is left";
  }
}

TEST_F(Nvrtc, HeadersCompileAndPrecompile) {
  need_headers();
  auto nvrtc = compiler({.workers = 1});
  const char* source =
      "#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n"
      "__global__ void k(__half* x) { x[0] = __hadd(x[1], __float2half(NUMBER)); }\n";
  double first = 0, best_later = 1e9;
  for (int i = 0; i < 4; ++i) {
    CompileRequest asked = request(source, {"k"});
    asked.defines = {{"NUMBER", i}};
    const CompileOutcome outcome = must_run(nvrtc, asked);
    ASSERT_TRUE(outcome.compiled) << text_of(outcome);
    EXPECT_TRUE(outcome.compiled->messages.empty()) << outcome.compiled->messages[0].text;
    if (i == 0) first = outcome.compiled->seconds;
    if (i > 0) best_later = std::min(best_later, outcome.compiled->seconds);
  }
  if (box_->nvrtc->version < "12.8")
    GTEST_SKIP() << "NVRTC " << box_->nvrtc->version << " cannot precompile";
  if (!nvrtc.notes().empty()) GTEST_SKIP() << nvrtc.notes()[0];
  EXPECT_LT(best_later, 0.6 * first);
}

TEST_F(Nvrtc, StandardHeadersAreThere) {
  const char* c_source = R"(
#include <assert.h>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <algorithm>
struct Pair { int a, b; };
__global__ void k(float* x, double* d, std::size_t n, std::uint64_t* u, int8_t* i) {
  assert(n > 0);
  std::printf("%d", 1);
  std::memcpy(x, x + 1, 4);
  x[0] = std::sqrt(x[1]) + std::fabs(x[2]) + std::isnan(x[1]) + std::max(x[1], x[2]) + std::fmaf(x[0], x[1], x[2]);
  x[1] = FLT_MAX; x[2] = INT_MAX; x[3] = M_PI; x[4] = INFINITY; x[5] = NAN; x[6] = CHAR_BIT;
  d[0] = DBL_EPSILON + std::exp(d[1]);
  u[0] = UINT64_MAX + offsetof(Pair, b);
  i[0] = INT8_MIN;
  std::swap(x[0], x[1]);
  static_assert(sizeof(std::sqrt(1.0f)) == 4 && sizeof(int64_t) == 8 && INT64_MAX > INT_MAX);
})";
  const char* cpp_source = R"(
#include <cmath>
#include <type_traits>
#include <limits>
#include <utility>
#include <functional>
#include <array>
#include <tuple>
#include <initializer_list>
__global__ void k(float* x) {
  static_assert(std::is_same_v<int, std::remove_reference_t<int&>>);
  x[0] = std::numeric_limits<float>::max();
  std::array<int, 3> a{1, 2, 3};
  auto t = std::make_tuple(1, 2.0f);
  x[1] = a[2] + std::get<1>(t) + std::plus<float>()(std::move(x[1]), 1) + NAN;
  for (int i : {1, 2, 3}) x[i] = i;
})";
  auto nvrtc = compiler({.workers = 1});
  EXPECT_EQ(text_of(must_run(nvrtc, request(c_source, {"k"}))), "compiled");
  NvrtcCompiler bare(*box_->nvrtc, {}, {.workers = 1});
  EXPECT_EQ(text_of(must_run(bare, request(c_source, {"k"}))), "compiled")
      << "without CUDA's headers";
  EXPECT_NE(
      text_of(must_run(bare, request(cpp_source, {"k"}))).find("pip install nvidia-cuda-cccl"),
      std::string::npos);
  need_headers();
  const CompileOutcome outcome = must_run(nvrtc, request(cpp_source, {"k"}));
  ASSERT_TRUE(outcome.compiled) << text_of(outcome);
  EXPECT_TRUE(outcome.compiled->messages.empty()) << outcome.compiled->messages[0].text;
}

TEST_F(Nvrtc, IncludeFoldersAreReadAndOnlyThose) {
  char pattern[] = "/tmp/kw_include_XXXXXX";
  ASSERT_NE(::mkdtemp(pattern), nullptr);
  const std::string folder = pattern;
  ASSERT_TRUE(os::write_file(folder + "/own.h", "#define OWN 5\n"));
  ASSERT_TRUE(os::write_file(folder + "-secret.h", "the secret word is xyzzy\n"));
  auto nvrtc = compiler({.workers = 1});
  CompileRequest asked =
      request("#include <own.h>\n__global__ void k(int* p) { *p = OWN; }\n", {"k"});
  EXPECT_NE(text_of(must_run(nvrtc, asked)).find("own.h"), std::string::npos);
  asked.include_folders = {folder};
  EXPECT_EQ(text_of(must_run(nvrtc, asked)), "compiled");
  if (nvrtc.notes().empty()) {
    const std::string secret = folder + "-secret.h";
    for (const std::string& source :
         {"#include <" + secret + ">", "#include \"" + secret + "\"", "#include <.." + secret + ">",
          "#include \"../../../../.." + secret + "\"", "#define F <" + secret + ">\n#include F",
          "%:include <" + secret + ">", "#inc\\\nlude <" + secret + ">",
          "#include_next <" + secret + ">", "#include </proc/self/root" + secret + ">"}) {
      asked.source = source + "\n__global__ void k() {}\n";
      const CompileOutcome outcome = must_run(nvrtc, asked);
      ASSERT_TRUE(outcome.failed) << source;
      EXPECT_EQ((outcome.failed->log + text_of(outcome)).find("xyzzy"), std::string::npos)
          << source;
    }
    asked.source =
        "#if __has_include(<" + secret + ">)\n#error it is there\n#endif\n__global__ void k() {}\n";
    EXPECT_EQ(text_of(must_run(nvrtc, asked)), "compiled");
    asked.source = "#include </etc/passwd>\n";
    EXPECT_EQ(must_run(nvrtc, asked).failed->log.find("root:"), std::string::npos);
  }
  for (const std::string& path : {folder + "/own.h", folder + "-secret.h"}) ::unlink(path.c_str());
  ::rmdir(pattern);
}

constexpr const char* kTemplateBomb = R"(
template <int D, typename A, typename B> struct T { using X = typename T<D - 1, T<D, A, B>, B>::X; using Y = typename T<D - 1, A, T<D, A, B>>::X; };
template <typename A, typename B> struct T<0, A, B> { using X = int; };
__global__ void k() { typename T<40, int, float>::X x; }
)";
constexpr const char* kSlow = R"(
constexpr long f(long n) { long s = 0; for (long i = 0; i < n; ++i) s += i % 7; return s; }
template <long N> struct V { static constexpr long v = f(200000 + N) + V<N - 1>::v; };
template <> struct V<0> { static constexpr long v = 0; };
__global__ void k(long* p) { *p = V<180>::v; }
)";

TEST_F(Nvrtc, ACompileThatTakesTooLongIsStopped) {
  auto nvrtc = compiler({.workers = 1});
  CompileRequest asked = request(kSlow, {"k"});
  asked.timeout_seconds = 0.5;
  const CompileOutcome outcome = must_run(nvrtc, asked);
  ASSERT_TRUE(outcome.failed);
  EXPECT_TRUE(outcome.failed->timed_out) << text_of(outcome);
  EXPECT_EQ(text_of(must_run(nvrtc, request("__global__ void k() {}", {"k"}))), "compiled");
}

TEST_F(Nvrtc, ACompileThatEatsMemoryIsStopped) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "address space cannot be limited under AddressSanitizer";
#endif
  auto nvrtc = compiler({.workers = 1, .memory_bytes = uint64_t{700} << 20});
  CompileRequest asked = request(kTemplateBomb, {"k"});
  const CompileOutcome outcome = must_run(nvrtc, asked);
  ASSERT_TRUE(outcome.failed);
  EXPECT_TRUE(outcome.failed->crashed || outcome.failed->timed_out) << text_of(outcome);
  EXPECT_EQ(text_of(must_run(nvrtc, request("__global__ void k() {}", {"k"}))), "compiled");
}

// It says nothing about the source, so it must not become a verdict.
TEST_F(Nvrtc, AKilledWorkerIsTheMachinesFault) {
  auto nvrtc = compiler({.worker_argv = {"/proc/self/exe", "killed-worker"}});
  const auto outcome = nvrtc.compile(request("__global__ void k() {}", {"k"}));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().blame, Blame::Environment);
  EXPECT_NE(outcome.error().message.find("twice"), std::string::npos) << outcome.error().message;
}

TEST_F(Nvrtc, ThreadsCompileInParallelAndWorkersAreRecycled) {
  auto nvrtc = compiler({.workers = 2, .recycle_after = 3});
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 4; ++i) {
        CompileRequest asked = request(kScale, {"scale<32>"});
        asked.defines = {{"FACTOR", static_cast<int64_t>(t) * 10 + i}};
        const auto outcome = nvrtc.compile(asked);
        good[t] += outcome && outcome->compiled ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, (std::vector<int>{4, 4, 4, 4}));
}

TEST_F(Nvrtc, AWorkerThatCannotStartIsTheMachinesFault) {
  auto nvrtc = compiler({.worker_argv = {"sh", "-c", "echo no good >&2; exit 3"}});
  const auto outcome = nvrtc.compile(request("__global__ void k() {}", {"k"}));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().blame, Blame::Environment);
  EXPECT_NE(outcome.error().message.find("no good"), std::string::npos) << outcome.error().message;
}

TEST_F(Nvrtc, NothingIsLeftInTheTemporaryFolder) {
  const auto left = [] {
    return os::glob("/tmp/kernelwright-compile-" + std::to_string(::getpid()) + "-*").size();
  };
  const size_t before = left();  // other tests of this process may have left one
  {
    auto nvrtc = compiler();
    must_run(nvrtc, request("__global__ void k() {}", {"k"}));
    EXPECT_EQ(left(), before + 1);
  }
  EXPECT_EQ(left(), before);
}

}  // namespace
}  // namespace kw::compile
