#include "cuda_import/import.h"

#include <gtest/gtest.h>

#include "core/text.h"
#include "kernel/parse_module.h"

namespace kw::cuda_import {
namespace {

constexpr const char* kKernel =
    "__global__ void scale(const float* x, float* y, int n, float f) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = x[i] * f;\n"
    "}\n";

ImportRequest request_for(const std::string& text) {
  ImportRequest request;
  request.text = text;
  request.file_name = "solve.cu";
  request.task = "scale";
  request.given = {{"x", tensor::DType::Fp32, {"N"}},
                   {"y", tensor::DType::Fp32, {"N"}},
                   {"A", tensor::DType::Fp32, {"M", "K"}},
                   {"B", tensor::DType::Fp32, {"K", "N"}},
                   {"C", tensor::DType::Fp32, {"M", "N"}}};
  return request;
}

/// The plan lines of a module, without their '//! '.
std::string plan_of(const std::string& module) {
  std::string out;
  for (const std::string_view line : split_lines(module)) {
    if (!line.starts_with("//! ")) continue;
    std::string words;
    for (const std::string& word : split(line.substr(4), ' ')) {
      if (!word.empty()) words += (words.empty() ? "" : " ") + word;
    }
    if (words.starts_with("launch") || words.starts_with("when") || words.starts_with("scratch") ||
        words.starts_with("scalar") || words.starts_with("repeat") || words.starts_with("end"))
      out += words + "\n";
  }
  return out;
}

std::string problems_of(const Imported& imported) {
  std::string out;
  for (const cuda_source::Diagnostic& one : imported.problems)
    out += std::to_string(one.line) + ": " + one.message + " | " + one.hint + "\n";
  return out;
}

struct Case {
  const char* name;
  const char* text;  // follows kKernel
  const char* plan;
};

class Launchers : public testing::TestWithParam<Case> {};

TEST_P(Launchers, BecomePlans) {
  const Imported imported = import_launcher(request_for(std::string(kKernel) + GetParam().text));
  EXPECT_EQ(problems_of(imported), "");
  EXPECT_EQ(plan_of(imported.module), GetParam().plan) << imported.module;
  EXPECT_NE(imported.module.find(kKernel), std::string::npos) << "device code byte for byte";
  EXPECT_TRUE(kernel::parse(imported.module, "out.cu").module.has_value());
}

#define HEAD "extern \"C\" void solve(const float* x, float* y, int N) {\n"
INSTANTIATE_TEST_SUITE_P(
    All, Launchers,
    testing::Values(
        Case{"plain", HEAD "  scale<<<(N + 255) / 256, 256>>>(x, y, N, 2.0f);\n}\n",
             "scalar f: fp32 = 2\n"
             "launch scale grid((N + 255) / 256) block(256) args(x, y, N, f)\n"},
        Case{"dim3_and_locals",
             HEAD "  const int threads = 128; int blocks = (N + threads - 1) / threads;\n"
                  "  dim3 grid(blocks, 2), block(threads);\n"
                  "  scale<<<grid, block, threads * sizeof(float), 0>>>(x, y, N, 1e-3);\n"
                  "  cudaDeviceSynchronize();\n}\n",
             "scalar f: fp32 = 0.001\n"
             "launch scale grid((N + 128 - 1) / 128, 2) block(128) shared(512) args(x, y, N, f)\n"},
        Case{"macros",
             "#define TILE 64\n#define DIV(a, b) (((a) + (b) - 1) / (b))\n"
             "#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { "
             "fprintf(stderr, \"%s\", #call); exit(1); } } while (0)\n" HEAD
             "  scale<<<DIV(N, TILE), TILE>>>(x, y, N, 1);\n  CHECK(cudaGetLastError());\n}\n",
             "scalar f: fp32 = 1\n"
             "launch scale grid((N + 64 - 1) / 64) block(64) args(x, y, N, f)\n"},
        Case{"constants",
             "constexpr int kBlock = 1 << 7;\nstatic const int kTwice = 2 * kBlock;\n"
             "enum { kOne = 1, kNext };\n" HEAD
             "  scale<<<N / kNext, kTwice>>>(x, y, N, kOne);\n}\n",
             "scalar f: fp32 = 1\nlaunch scale grid(N / 2) block(256) args(x, y, N, f)\n"},
        Case{"helper_functions",
             "static int cdiv(int a, int b) { return (a + b - 1) / b; }\n"
             "template <int T> void go(const float* in, float* out, int n, float f) {\n"
             "  scale<<<cdiv(n, T), T>>>(in, out, n, f);\n}\n"
             "extern \"C\" void solve(const float* x, float* y, int N, float s) {\n"
             "  auto half = [](int v) { return v / 2; };\n"
             "  go<32>(x, y, half(N), s);\n}\n",
             "scalar s: fp32\nlaunch scale grid((N / 2 + 32 - 1) / 32) block(32) args(x, y, N / 2, "
             "s)\n"},
        Case{"rounding_up",
             HEAD "  int blocks = (int)ceil((float)N / 256);\n"
                  "  int more = static_cast<int>(std::ceil(N / 128.0));\n"
                  "  scale<<<std::min(blocks, 1024), 256>>>(x, y, N, 1.f);\n"
                  "  scale<<<more >> 1, 128>>>(x, y, N & 31, 1.f);\n}\n",
             "scalar f: fp32 = 1\nwhen N <= 16777216\n"
             "launch scale grid(min(ceil_div(N, 256), 1024)) block(256) args(x, y, N, f)\n"
             "launch scale grid(ceil_div(N, 128) / 2) block(128) args(x, y, N % 32, f)\n"},
        Case{"conditions",
             HEAD "  if (N % 4 == 0) {\n    scale<<<N / 4, 4>>>(x, y, N, 1.f);\n  } else {\n"
                  "    scale<<<N, 1>>>(x, y, N, 1.f);\n  }\n}\n",
             "scalar f: fp32 = 1\nwhen N % 4 == 0\nlaunch scale grid(N / 4) block(4) args(x, y, N, "
             "f)\n"
             "when N % 4 != 0\nlaunch scale grid(N) block(1) args(x, y, N, f)\n"},
        Case{"early_return", HEAD "  if (N <= 0) return;\n  scale<<<N, 1>>>(x, y, N, 1.f);\n}\n",
             "scalar f: fp32 = 1\nwhen N > 0\nlaunch scale grid(N) block(1) args(x, y, N, f)\n"},
        Case{
            "choices",
            HEAD "  int t = N > 1024 ? 256 : 128;\n  switch (N % 3) {\n    case 0: t = 64; break;\n"
                 "    default: break;\n  }\n  scale<<<N, t>>>(x, y, N, 1.f);\n}\n",
            "scalar f: fp32 = 1\nwhen N % 3 == 0\nlaunch scale grid(N) block(64) args(x, y, N, f)\n"
            "when N % 3 != 0\n"
            "launch scale grid(N) block(pick(N > 1024, 128, 256)) args(x, y, N, f)\n"},
        Case{"picked_numbers",
             HEAD
             "  int threads = 128;\n  if (N > 512) threads = 512;\n  else if (N > 256) { threads "
             "= 256; }\n  int blocks = (N + threads - 1) / threads;\n"
             "  if (blocks > 64) blocks = 64;\n"
             "  scale<<<blocks, threads>>>(x, y, N, 1.f);\n}\n",
             "scalar f: fp32 = 1\nlaunch scale grid(pick((N + pick(N > 512, pick(N > 256, 128, "
             "256), "
             "512) - 1) / pick(N > 512, pick(N > 256, 128, 256), 512) > 64, (N + pick(N > 512, "
             "pick(N > "
             "256, 128, 256), 512) - 1) / pick(N > 512, pick(N > 256, 128, 256), 512), 64)) "
             "block(pick(N > 512, pick(N > 256, 128, 256), 512)) args(x, y, N, f)\n"},
        Case{
            "checks_by_function",
            "#define check(call) { report((call), __FILE__, __LINE__); }\n"
            "inline void report(cudaError_t code, const char* file, int line, bool stop = true) {\n"
            "  if (code != cudaSuccess) { fprintf(stderr, \"%d\", line); if (stop) exit(code); "
            "}\n}\n"
            "unsigned int const limit = 1024;\n" HEAD
            "  float* buffer;\n  check(cudaMalloc((void**)&buffer, limit * sizeof *buffer + 4 * "
            "N));\n"
            "  scale<<<N, limit>>>(x, buffer, N, 1.f);\n  check(cudaPeekAtLastError());\n"
            "  scale<<<N, limit>>>(buffer, y, N, 1.f);\n  check(cudaFree(buffer));\n}\n",
            "scalar f: fp32 = 1\nscratch buffer: fp32[1024 + N]\nwhen 4 * N <= 2147000000\n"
            "launch scale grid(N) block(1024) args(x, buffer, N, f)\n"
            "launch scale grid(N) block(1024) args(buffer, y, N, f)\n"},
        Case{"scratch",
             HEAD "  float *tmp, *other; size_t bytes = N * sizeof(float);\n"
                  "  cudaMalloc((void**)&tmp, bytes); cudaMalloc(&other, bytes * 2 + 8);\n"
                  "  cudaMemset(tmp, 0, bytes);\n"
                  "  scale<<<N, 1>>>(x, tmp, N, 1.f);\n  scale<<<N, 1>>>(tmp, other, N, 1.f);\n"
                  "  std::swap(tmp, other);\n  scale<<<N, 1>>>(tmp, y, N, 1.f);\n"
                  "  cudaFree(tmp); cudaFree(other);\n}\n",
             "scalar f: fp32 = 1\nscratch tmp: fp32[N] = 0\nscratch other: fp32[N * 2 + 2]\n"
             "launch scale grid(N) block(1) args(x, tmp, N, f)\n"
             "launch scale grid(N) block(1) args(tmp, other, N, f)\n"
             "launch scale grid(N) block(1) args(other, y, N, f)\n"},
        Case{"clearing_an_output",
             HEAD "  cudaMemset(y, 0, N * sizeof(float));\n  scale<<<N, 1>>>(x, y, N, 1.f);\n}\n",
             "scalar f: fp32 = 1\n"
             "launch import_set_bytes grid(min(max(ceil_div(N * 4, 4096), 1), 1024)) block(256) "
             "args(y, 0, N * 4)\n"
             "launch scale grid(N) block(1) args(x, y, N, f)\n"},
        Case{"loops",
             HEAD "  for (int i = 0; i < 2; ++i) scale<<<N, 32 << i>>>(x, y, N, 1.f);\n"
                  "  for (int p = 1; p <= N / 8; p++) scale<<<p, 1>>>(x, y, p, 1.f);\n}\n",
             "scalar f: fp32 = 1\nlaunch scale grid(N) block(32) args(x, y, N, f)\n"
             "launch scale grid(N) block(64) args(x, y, N, f)\nrepeat p in 1..N / 8 + 1\n"
             "launch scale grid(p) block(1) args(x, y, p, f)\nend\n"},
        Case{"alternating_buffers",
             "extern \"C\" void solve(const float* x, float* y, int N, int steps) {\n"
             "  float *a, *b;\n  cudaMalloc(&a, 4 * N);\n  cudaMalloc(&b, 4 * N);\n"
             "  cudaMemcpy(a, x, 4 * N, cudaMemcpyDeviceToDevice);\n"
             "  for (int s = 0; s < steps; ++s) {\n    scale<<<N, 1>>>(a, b, N, 1.f);\n"
             "    float* t = a;\n    a = b;\n    b = t;\n  }\n"
             "  scale<<<N, 1>>>(a, y, N, 1.f);\n}\n",
             "scalar steps: int32\nscalar f: fp32 = 1\nscratch a: fp32[N]\nscratch b: fp32[N]\n"
             "when 4 * N <= 2147000000\n"
             "launch import_copy_bytes grid(min(max(ceil_div(4 * N, 4096), 1), 1024)) block(256) "
             "args(a, x, 4 * N)\n"
             "repeat s in 0..steps\n"
             "launch scale grid(N) block(1) args(pick(s % 2, a, b), pick(s % 2, b, a), N, f)\nend\n"
             "launch scale grid(N) block(1) args(pick(steps % 2, a, b), y, N, f)\n"},
        Case{"device_properties",
             HEAD "  int sms; cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);\n"
                  "  cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); int per = 0;\n"
                  "  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, scale, 256, 0);\n"
                  "  scale<<<sms * per, 256>>>(x, y, p.multiProcessorCount, 1.f);\n}\n",
             "scalar f: fp32 = 1\nlaunch scale grid(SMS * blocks_per_sm(scale)) block(256) args(x, "
             "y, SMS, f)\n"},
        Case{"launch_by_call",
             HEAD
             "  float f = 3; void* args[] = {&x, &y, &N, &f};\n"
             "  cudaLaunchCooperativeKernel((void*)scale, dim3(N), dim3(32), args, 0, 0);\n}\n",
             "scalar f: fp32 = 3\nlaunch scale grid(N) block(32) cooperative args(x, y, N, f)\n"},
        Case{"deduced_templates",
             "template <typename T, int kBlock = 64>\n"
             "__global__ void twice(const T* in, T* out, int n) {\n"
             "  const int i = blockIdx.x * kBlock + threadIdx.x;\n"
             "  if (i < n) out[i] = in[i] + in[i];\n}\n"
             "template <int kBlock = 32> __global__ void fill(float* out) { out[threadIdx.x] = "
             "kBlock; "
             "}\n" HEAD "  twice<<<(N + 63) / 64, 64>>>(x, y, N);\n  fill<<<1, N>>>(y);\n}\n",
             "launch twice<float> grid((N + 63) / 64) block(64) args(x, y, N)\n"
             "launch fill<> grid(1) block(N) args(y)\n"},
        Case{"no_linkage_and_streams",
             "void run(float *__restrict__ const y, float const *x, unsigned long long N, "
             "cudaStream_t stream) {\n  auto kernel = scale;\n"
             "  kernel<<<dim3{(unsigned)N}, dim3(1, 1, 1), 0, stream>>>(x, y, N, .5f);\n}\n"
             "int main() { run(nullptr, nullptr, 3, 0); return 0; }\n",
             "scalar f: fp32 = 0.5\nwhen N <= 4294000000\n"
             "launch scale grid(N) block(1) args(x, y, N, f)\n"}),
    [](const auto& one) { return one.param.name; });

class Refusals : public testing::TestWithParam<Case> {};

TEST_P(Refusals, NameTheConstruct) {
  const Imported imported = import_launcher(request_for(std::string(kKernel) + GetParam().text));
  EXPECT_EQ(imported.module, "");
  EXPECT_NE(problems_of(imported).find(GetParam().plan), std::string::npos)
      << problems_of(imported);
}

INSTANTIATE_TEST_SUITE_P(
    All, Refusals,
    testing::Values(
        Case{"no_launcher", "", "0: the file has no host function that launches a kernel"},
        Case{"several",
             "extern \"C\" void a(float* y) { scale<<<1, 1>>>(y, y, 1, 1); }\n"
             "extern \"C\" void b(float* y) { scale<<<1, 1>>>(y, y, 1, 1); }\n",
             "0: the file has several launchers: a, b"},
        Case{"unknown_type", "extern \"C\" void solve(const Foo* x, float* y) {}\n",
             "5: parameter 'x' is 'const Foo*', which is not a type known here"},
        Case{"pointers_to_pointers", "extern \"C\" void solve(float** x, int n) {}\n",
             "5: parameter 'x' is 'float**': a pointer to pointers"},
        Case{"unknown_shape",
             "extern \"C\" void solve(const float* in, float* y, int N) {\n"
             "  scale<<<N, 1>>>(in, y, N, 1);\n}\n",
             "5: the shape of 'in' is not known | pass --reference REF, or --input 'in:fp32[…]'"},
        Case{"pointer_arithmetic", HEAD "  scale<<<N, 1>>>(x + 4, y, N, 1);\n}\n",
             "6: argument 1 of 'scale' cannot be expressed in a plan: a pointer into the middle of "
             "a buffer"},
        Case{"host_arithmetic", HEAD "  scale<<<N, 1>>>(x, y, N, sqrtf(N));\n}\n",
             "6: argument 4 of 'scale' cannot be expressed in a plan: floating-point arithmetic on "
             "the host"},
        Case{"shape_as_float", HEAD "  scale<<<N, 1>>>(x, y, N, N);\n}\n",
             "6: argument 4 of 'scale' is computed from the shape, but is floating-point"},
        Case{"library", HEAD "  scale<<<N, 1>>>(x, y, N, 1);\n  thrust::sort(y, y + N);\n}\n",
             "7: the launcher calls 'thrust::sort' of thrust"},
        Case{"unknown_function", HEAD "  prepare(N);\n  scale<<<N, 1>>>(x, y, N, 1);\n}\n",
             "6: the launcher calls 'prepare', which is not known here"},
        Case{"open_loop",
             HEAD "  while (N > 1) { scale<<<N, 1>>>(x, y, N, 1); N = (N + 1) / 2; }\n}\n",
             "6: how often this loop runs depends on the shape: N > 1"},
        Case{"changing_loop",
             HEAD "  int s = 1;\n  for (int i = 0; i < N; ++i) { scale<<<s, 1>>>(x, y, N, 1); s *= "
                  "2; }\n}\n",
             "7: 's' changes from one turn of this loop to the next"},
        Case{"host_copy",
             HEAD "  float h[4];\n  cudaMemcpy(h, x, 16, cudaMemcpyDeviceToHost);\n"
                  "  scale<<<N, 1>>>(x, y, N, 1);\n}\n",
             "7: memory is copied between host and device"},
        Case{"header", "#include <cutlass/cutlass.h>\n" HEAD "  scale<<<N, 1>>>(x, y, N, 1);\n}\n",
             "5: header <cutlass/cutlass.h> is not available to kernel modules"},
        Case{"quotes", "#include \"mine.cuh\"\n" HEAD "  scale<<<N, 1>>>(x, y, N, 1);\n}\n",
             "5: the file includes \"mine.cuh\""},
        Case{"conditional", HEAD "#ifdef FAST\n  scale<<<N, 1>>>(x, y, N, 1);\n#endif\n}\n",
             "6: conditional compilation inside a function of the host"},
        Case{"null", HEAD "  float* tmp = nullptr;\n  scale<<<N, 1>>>(x, tmp, N, 1);\n}\n",
             "7: argument 2 of 'scale' is a pointer to nothing"},
        Case{"count", HEAD "  scale<<<N, 1>>>(x, y, N);\n}\n",
             "6: 'scale' takes 4 parameters and gets 3 arguments"},
        Case{"nothing", HEAD "  if (N == 5) printf(\"x\");\n}\nvoid other(float* y) {}\n",
             "0: 'solve' launches nothing"},
        Case{"element", HEAD "  int t[2] = {1, 2};\n  scale<<<t[0], 1>>>(x, y, N, 1);\n}\n",
             "7: this launch's grid cannot be expressed in a plan: an element of an array"},
        Case{"other_type",
             "extern \"C\" void solve(const double* x, float* y, int N) {\n"
             "  scale<<<N, 1>>>((const float*)x, y, N, 1);\n}\n",
             "5: 'x' is 'const double*' in the launcher, but fp32"}),
    [](const auto& one) { return one.param.name; });

TEST(Import, ReportsAllProblemsAtOnce) {
  const Imported imported = import_launcher(request_for(
      std::string(kKernel) + "#include \"mine.cuh\"\n" HEAD
                             "  scale<<<N, 1>>>(x + 1, y, N, sqrtf(N));\n  foo();\n}\n"));
  EXPECT_EQ(imported.problems.size(), 4u) << problems_of(imported);
  const Imported more = import_launcher(request_for(
      std::string(kKernel) + HEAD
      "  for (int d = N / 2; d > 0; d /= 2) scale<<<1, 256>>>(x, y, d, 1.f);\n"
      "  for (int v : {1, 2}) scale<<<v, 1>>>(x, y, N, 1.f);\n"
      "  if (getenv(\"FAST\")) scale<<<1, 1>>>(x, y, N, 1.f);\n  float* q = y + 4;\n"
      "  scale<<<1, 256>>>(x, q, N, 1.f);\n  cublasHandle_t h; cublasCreate(&h);\n}\n"));
  EXPECT_EQ(more.problems.size(), 5u) << problems_of(more);
}

TEST(Import, TakesRolesAndShapesFromTheReference) {
  ImportRequest request =
      request_for(std::string(kKernel) +
                  "extern \"C\" void solve(const float* in, float* y, float* acc, "
                  "int rows, int D, float s) {\n"
                  "  scale<<<rows, D>>>(in, y, rows * D, s);\n"
                  "  scale<<<rows, D>>>(y, acc, rows * D, s);\n}\n");
  request.given.clear();
  request.has_reference = true;
  request.inputs = {{"x", tensor::DType::Fp32, {"B", "D"}},
                    {"acc", tensor::DType::Fp32, {"B", "D"}}};
  request.outputs = {{"acc", tensor::DType::Fp32, {"B", "D"}},
                     {"out", tensor::DType::Fp32, {"B", "D"}}};
  request.dims = {"B", "D"};
  request.scalars = {{"s", "0.25"}};
  EXPECT_NE(problems_of(import_launcher(request)).find("5: 'rows' is neither a dim nor a number"),
            std::string::npos)
      << problems_of(import_launcher(request));
  request.numbers = {{"rows", "B"}};
  const Imported imported = import_launcher(request);
  EXPECT_EQ(problems_of(imported), "");
  EXPECT_NE(imported.module.find("//! input   in: fp32[B, D]\n//! output  y: fp32[B, D]\n"
                                 "//! inout   acc: fp32[B, D]\n//! scalar  s: fp32 = 0.25\n"
                                 "//! when    B * D <= 2147000000\n"
                                 "//! launch  scale grid(B) block(D) args(in, y, B * D, s)\n"),
            std::string::npos)
      << imported.module;
}

TEST(Import, KeepsTheDevicePartAlone) {
  const Imported imported = import_launcher(request_for(
      "#include <cuda_runtime.h>\n#include <iostream>\n#include <vector>\nusing namespace std;\n\n"
      "namespace ops {\n\n__device__ float twice(float v) { return v + v; }\n\n"
      "void host_only(std::vector<int>& v) { v.clear(); }\n\n"
      "template <typename T, int kThreads>\n__global__ void twice_all(const T* x, T* y, int n) {\n"
      "  const int i = blockIdx.x * kThreads + threadIdx.x;\n  if (i < n) y[i] = "
      "twice(x[i]);\n}\n\n"
      "}  // namespace ops\n\nstatic cudaStream_t stream;\n\nextern \"C\" {\n"
      "void solve(const float* x, float* y, int N) {\n"
      "  constexpr int kT = 64;\n"
      "  ops::twice_all<float, kT><<<(N + kT - 1) / kT, kT, 0, stream>>>(x, y, N);\n}\n}\n"));
  EXPECT_EQ(problems_of(imported), "");
  EXPECT_EQ(
      imported.module,
      "//! kernelwright 1\n//! task    scale\n//! input   x: fp32[N]\n//! output  y: fp32[N]\n"
      "//! launch  ops::twice_all<float, 64> grid((N + 64 - 1) / 64) block(64) args(x, y, N)\n"
      "#include <cuda_runtime.h>\n\nnamespace ops {\n\n"
      "__device__ float twice(float v) { return v + v; }\n\n"
      "template <typename T, int kThreads>\n"
      "__global__ void twice_all(const T* x, T* y, int n) {\n"
      "  const int i = blockIdx.x * kThreads + threadIdx.x;\n"
      "  if (i < n) y[i] = twice(x[i]);\n}\n\n}  // namespace ops\n");
}

TEST(Import, ClearsOutputsWhenAsked) {
  ImportRequest request = request_for(
      "#include \"solve.h\"\n__global__ void add(const float* in, float* sum, int n) {\n"
      "  if (threadIdx.x < n) atomicAdd(&sum[0], in[threadIdx.x]);\n}\n"
      "extern \"C\" void solve(const float* x, float* y, int N) { add<<<1, N>>>(x, y, N); }\n");
  const Imported warned = import_launcher(request);
  EXPECT_EQ(problems_of(warned), "");
  EXPECT_NE(join(warned.notes, "\n").find("'add' adds to 'y' atomically and nothing clears it"),
            std::string::npos);
  request.zero_outputs = true;
  const Imported cleared = import_launcher(request);
  EXPECT_EQ(plan_of(cleared.module),
            "launch import_set_bytes grid(min(max(ceil_div(4 * N, 4096), 1), 1024)) block(256) "
            "args(y, 0, 4 * N)\nlaunch add grid(1) block(N) args(x, y, N)\n");
  EXPECT_EQ(join(cleared.notes, "\n").find("atomically"), std::string::npos);
}

TEST(Import, ReadsTypesAsLaunchersWriteThem) {
  struct Row {
    const char* declaration;
    const char* expected;
  };
  for (const Row& row :
       {Row{"float *A", "float* A"}, Row{"float* __restrict__ A", "float* A"},
        Row{"const float *__restrict__ A", "const float* A"},
        Row{"float const * const A", "const float* A"}, Row{"half* h", "__half* h"},
        Row{"const __nv_bfloat16* b", "const __nv_bfloat16* b"},
        Row{"const void* p", "const void* p"}, Row{"float alpha", "float alpha"},
        Row{"bool flag", "bool flag"}, Row{"std::int64_t n", "long long n"},
        Row{"unsigned n", "unsigned int n"}, Row{"long long n", "long long n"},
        Row{"long unsigned int n", "unsigned long n"}, Row{"float* constants", "float* constants"},
        Row{"size_t n", "unsigned long n"}, Row{"const float A[]", "float* A"},
        Row{"uint8_t const* bytes", "const unsigned char* bytes"}}) {
    const LauncherHead head =
        find_launcher(std::string(kKernel) + "extern \"C\" void solve(" + row.declaration +
                          ", int z) { scale<<<1, 1>>>(0, 0, 0, 0); }",
                      "");
    ASSERT_EQ(head.parameters.size(), 2u) << row.declaration;
    EXPECT_EQ(head.parameters[0].type.text() + " " + head.parameters[0].name, row.expected);
    EXPECT_TRUE(head.parameters[0].type.known()) << row.declaration;
  }
}

}  // namespace
}  // namespace kw::cuda_import
