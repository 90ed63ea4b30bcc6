// Honest kernels must pass the whole gate; every mutant of them must be stopped, at the stage that
// is there for it, with a line that shows it again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "compile/compile_worker.h"
#include "core/text.h"
#include "machine/devices.h"
#include "os/files.h"
#include "tasks.h"
#include "truth/interpreter.h"
#include "verification/verify.h"

namespace kw::verify_tests {

namespace {

struct Edit {
  const char* from;
  const char* to;
};

struct Case {
  const char* name;
  const char* task;
  std::vector<Edit> edits;     // of the honest kernel, each at every place it stands
  const char* verdict;         // "passed", "wrong", …
  const char* stage;           // "" where a verdict has none
  const char* says;            // part of the reason
  bool deterministic = false;  // the task demands it
};

/// What every test needs, opened once.
struct Tools {
  std::string problem;
  std::unique_ptr<ports::Compiler> compiler;
  std::unique_ptr<ports::Device> device;
  truth::Interpreter oracle;

  Tools() {
    auto opened = machine::open_compiler(os::env("KW_TEST_COMPILER"));
    if (!opened) {
      problem = opened.error().message;
      return;
    }
    compiler = std::move(opened).value();
    auto gpu = machine::open_device({"vgpu", "", 0, {}});
    if (!gpu) {
      problem = gpu.error().message;
      return;
    }
    device = std::move(gpu).value();
  }
};

Tools& tools() {
  static Tools kTools;
  return kTools;
}

std::string source_of(const Case& test) {
  const std::string name = test.task;
  const std::string path = name == "rms_norm" ? KW_SOURCE_DIR "/examples/rms_norm.cu"
                                              : KW_VERIFY_DIR "/kernels/" + name + ".cu";
  const auto text = os::read_file(path);
  if (!text) throw std::runtime_error(text.error().message);
  std::string edited = *text;
  for (const Edit& edit : test.edits) {
    if (edited.find(edit.from) == std::string::npos)
      throw std::runtime_error(std::string("the kernel has no '") + edit.from + "'");
    edited = replace_all(edited, edit.from, edit.to);
  }
  return edited;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      // Honest.
      {"HonestRmsNorm", "rms_norm", {}, "passed", "", ""},
      {"HonestSoftmax", "softmax", {}, "passed", "", ""},
      {"HonestLayerNorm", "layer_norm", {}, "passed", "", ""},
      {"HonestRowSum", "row_sum", {}, "passed", "", ""},
      {"HonestTranspose", "transpose", {}, "passed", "", ""},
      {"HonestArgMax", "argmax", {}, "passed", "", ""},
      {"HonestMatMul", "matmul", {}, "passed", "", ""},
      {"HonestRenamedTensors",
       "row_sum",
       {{"x: fp32[B, D]", "values: fp32[R, C]"},
        {"y: fp32[B]", "total: fp32[R]"},
        {"grid(B)", "grid(R)"},
        {"args(x, y, D)", "args(values, total, C)"}},
       "passed",
       "",
       ""},
      {"HonestExp2",
       "softmax",
       {{"expf(x[i] - most)", "exp2f((x[i] - most) * 1.44269504f)"}},
       "passed",
       "",
       ""},
      {"HonestSpecialised",
       "row_sum",
       {{"//! launch  row_sum", "//! when    D % 64 == 0\n//! launch  row_sum"}},
       "passed",
       "",
       ""},
      {"HonestAtomics",
       "row_sum",
       {{"grid(B)", "grid(B, 2)"},
        {"int i = threadIdx.x; i < D; i += 32",
         "int i = threadIdx.x + 32 * blockIdx.y; i < D; i += 64"},
        {"y[blockIdx.x] = sum", "atomicAdd(&y[blockIdx.x], sum)"},
        {"//! output  y: fp32[B]", "//! output  y: fp32[B]\n//! scratch t: fp32[1] = 0"},
        {"//! launch  row_sum", "//! launch  clear grid(B) block(1) args(y)\n//! launch  row_sum"},
        {"__global__ void row_sum",
         "__global__ void clear(float* y) { y[blockIdx.x] = 0; }\n__global__ void row_sum"},
        {"\n//! scratch t: fp32[1] = 0", ""}},
       "passed",
       "",
       ""},
      // Static and compile.
      {"DoesNotParse",
       "row_sum",
       {{"//! launch", "//! lunch"}},
       "rejected",
       "static",
       "row_sum.cu"},
      {"OtherDtype",
       "row_sum",
       {{"x: fp32", "x: fp16"}, {"const float* x", "const unsigned short* x"}},
       "rejected",
       "static",
       "'x' is fp16, the task's 'x' is fp32"},
      {"OtherRank",
       "row_sum",
       {{"y: fp32[B]", "y: fp32[B, 1]"}},
       "rejected",
       "static",
       "2 dimensions"},
      {"HardCodedShape",
       "row_sum",
       {{"fp32[B, D]", "fp32[B, 96]"}, {"args(x, y, D)", "args(x, y, 96)"}},
       "rejected",
       "static",
       "the task requires"},
      {"DomainTooSmall",
       "rms_norm",
       {{"D % VEC == 0", "D == 4096"}, {"when    true", "when    D == 8192"}},
       "rejected",
       "static",
       "outside the module's domain"},
      {"NoSuchInput",
       "row_sum",
       {{"//! output", "//! input   extra: fp32[B]\n//! output"}},
       "rejected",
       "static",
       "no tensor left"},
      {"WrongArguments", "row_sum", {{"args(x, y, D)", "args(x, y)"}}, "rejected", "static", ""},
      {"SyntaxError",
       "row_sum",
       {{"float sum = 0.0f;", "float sum = 0.0f"}},
       "rejected",
       "compile",
       ""},
      // The virtual GPU.
      {"OffByOneWrite",
       "rms_norm",
       {{"for (int i = threadIdx.x; i < packs; i += kThreads) {\n    Pack<kVec> pack",
         "for (int i = threadIdx.x; i <= packs; i += kThreads) {\n    Pack<kVec> pack"}},
       "rejected",
       "vgpu",
       "["},
      {"TailNotWritten",
       "rms_norm",
       {{"for (int i = threadIdx.x; i < packs; i += kThreads) {\n    Pack<kVec> pack",
         "for (int i = threadIdx.x; i < packs - 1; i += kThreads) {\n    Pack<kVec> pack"}},
       "rejected",
       "vgpu",
       "output-not-written"},
      {"NoBarrier", "rms_norm", {{"  __syncthreads();\n", ""}}, "rejected", "vgpu", "shared-race"},
      {"WritesItsInput",
       "row_sum",
       {{"if (threadIdx.x == 0) y",
         "const_cast<float*>(x)[blockIdx.x * D] = 0;\n  if (threadIdx.x == 0) y"}},
       "rejected",
       "vgpu",
       "write-to-input"},
      {"KeepsState",
       "row_sum",
       {{"__global__", "__device__ float last;\n__global__"},
        {"if (threadIdx.x == 0) y[blockIdx.x] = sum",
         "if (threadIdx.x == 0) {\n    y[blockIdx.x] = sum;\n    if (blockIdx.x == 0) last = "
         "sum;\n  }"}},
       "rejected",
       "vgpu",
       "state-across-calls"},
      {"UninitialisedSum",
       "row_sum",
       {{"float sum = 0.0f;", "__shared__ float start[32];\n  float sum = start[threadIdx.x];"}},
       "rejected",
       "vgpu",
       "uninitialised-use"},
      {"NoGuardInTail",
       "matmul",
       {{"row < M && ka < K ?", "row < M ?"}},
       "rejected",
       "vgpu",
       "out-of-bounds-global"},
      // Numbers.
      {"TailNotSummed",
       "rms_norm",
       {{"for (int i = threadIdx.x; i < packs; i += kThreads) {\n    const Pack",
         "for (int i = threadIdx.x; i < packs - 1; i += kThreads) {\n    const Pack"}},
       "wrong",
       "numerics",
       ""},
      {"WrongEps", "rms_norm", {{"/ D + eps", "/ D + 10 * eps"}}, "wrong", "numerics", ""},
      {"HalfAccumulation",
       "rms_norm",
       {{"sum += value * value;", "sum = __half2float(__float2half(sum + value * value));"}},
       "wrong",
       "numerics",
       ""},
      {"FirstRowOnly",
       "rms_norm",
       {{"Pack<kVec>*>(x + row)", "Pack<kVec>*>(x)"}},
       "wrong",
       "numerics",
       ""},
      {"DividesByTheBenchmarksExtent",
       "rms_norm",
       {{"(sum) / D", "(sum) / 128"}},
       "wrong",
       "numerics",
       ""},
      {"SampledReduction",
       "rms_norm",
       {{"sum += value * value;",
         "if (i % 2 == 0 || packs < 2) sum += (packs < 2 ? 1 : 2) * value * value;"}},
       "wrong",
       "numerics",
       ""},
      {"NoMaxSubtract", "softmax", {{"expf(x[i] - most)", "expf(x[i])"}}, "wrong", "numerics", ""},
      {"ApproximateByTaylor",
       "softmax",
       {{"expf(x[i] - most)", "fmaxf(0.0f, 1.0f + (x[i] - most) * (1.0f + 0.5f * (x[i] - most)))"}},
       "wrong",
       "numerics",
       ""},
      {"OnePassVariance",
       "layer_norm",
       {{"squares += (x[i] - mean) * (x[i] - mean);", "squares += x[i] * x[i];"},
        {"sum_of(squares) / D;", "sum_of(squares) / D - mean * mean;"}},
       "wrong",
       "numerics",
       ""},
      {"UnbiasedVariance",
       "layer_norm",
       {{"sum_of(squares) / D;", "sum_of(squares) / (D > 1 ? D - 1 : 1);"}},
       "wrong",
       "numerics",
       ""},
      {"BiasForgotten", "layer_norm", {{" + b[i]", " + 0.0f * b[i]"}}, "wrong", "numerics", ""},
      {"AllZero",
       "row_sum",
       {{"y[blockIdx.x] = sum", "y[blockIdx.x] = 0.0f * sum"}},
       "wrong",
       "numerics",
       ""},
      {"HalfScaled",
       "row_sum",
       {{"y[blockIdx.x] = sum", "y[blockIdx.x] = 0.5f * sum"}},
       "wrong",
       "numerics",
       ""},
      {"SignFlipped",
       "row_sum",
       {{"y[blockIdx.x] = sum", "y[blockIdx.x] = -sum"}},
       "wrong",
       "numerics",
       ""},
      {"TailElementIgnored",
       "row_sum",
       {{"i < D; i += 32", "i < D / 4 * 4; i += 32"}},
       "wrong",
       "numerics",
       ""},
      {"LosesTheSignOfZero",
       "transpose",
       {{"= tile[threadIdx.x][i]", "= tile[threadIdx.x][i] + 0.0f"}},
       "wrong",
       "numerics",
       "not equal"},
      {"RowsAndColumnsConfused",
       "transpose",
       {{"column) * B + row", "row) * D + column"}},
       "wrong",
       "numerics",
       ""},
      {"LastOfTies",
       "argmax",
       {{"x[i] > best ||", "x[i] >= best ||"}},
       "wrong",
       "numerics",
       "not the first of equal values"},
      {"Tf32Inside",
       "matmul",
       {{"sum += left[threadIdx.y][i] * right[i][threadIdx.x]",
         "sum += __int_as_float(__float_as_int(left[threadIdx.y][i]) & 0xffffe000) * "
         "right[i][threadIdx.x]"}},
       "wrong",
       "numerics",
       ""},
      {"DropsTheLastK",
       "matmul",
       {{"k < K; k += 16", "k + 15 < K || k == 0; k += 16"}},
       "wrong",
       "numerics",
       ""},
      // Hygiene.
      {"AtomicsWhereBitsMustRepeat",
       "row_sum",
       {{"grid(B)", "grid(B, 64)"},
        {"int i = threadIdx.x; i < D; i += 32",
         "int i = threadIdx.x + 32 * blockIdx.y; i < D; i += 2048"},
        {"y[blockIdx.x] = sum", "atomicAdd(&y[blockIdx.x], sum)"},
        {"//! launch  row_sum", "//! launch  clear grid(B) block(1) args(y)\n//! launch  row_sum"},
        {"__global__ void row_sum",
         "__global__ void clear(float* y) { y[blockIdx.x] = 0; }\n__global__ void row_sum"}},
       "rejected",
       "hygiene",
       "determinism",
       true},
  };
  return kCases;
}

std::string reason_of(const record::Verdict& verdict) {
  if (const auto* rejected = std::get_if<record::Rejected>(&verdict)) return rejected->reason;
  if (const auto* crashed = std::get_if<record::Crashed>(&verdict)) return crashed->what;
  if (const auto* wrong = std::get_if<record::Wrong>(&verdict)) return wrong->reason;
  if (const auto* unknown = std::get_if<record::Unknown>(&verdict))
    return unknown->missing_evidence;
  return "";
}

std::string story(const verification::VerifyReport& report) {
  std::string text;
  for (const gate::StageReport& stage : report.gate.stages) {
    text += std::string("\n  ") + record::stage_name(stage.stage) + " " + stage.outcome;
    for (const std::string& line : stage.lines) text += "\n    " + line;
  }
  return text;
}

class Gate : public testing::TestWithParam<Case> {};

TEST_P(Gate, StopsWhatIsWrongAndNothingElse) {
  if (!tools().problem.empty()) GTEST_SKIP() << tools().problem;
  const Case& test = GetParam();
  verification::VerifyRequest request;
  request.module_path = std::string(test.task) + ".cu";
  request.reference_path = std::string(test.task) + ".py";
  task::Task task = make_task(test.task);
  task.precision.deterministic = test.deterministic;
  const auto report = verification::verify_module(
      source_of(test), task, request,
      {tools().compiler.get(), tools().device.get(), nullptr, &tools().oracle});
  ASSERT_TRUE(report) << report.error().message;
  const Json json = to_json(*report);
  const std::string reason = reason_of(report->gate.verdict);
  EXPECT_EQ(json["verdict"].as_string(), test.verdict) << reason << story(*report);
  if (test.stage[0] != '\0') {
    EXPECT_EQ(json["stage"].as_string(), test.stage) << reason;
    EXPECT_EQ(json["repro"].as_string().rfind("kernelwright verify ", 0), 0U);
  }
  EXPECT_NE(reason.find(test.says), std::string::npos) << reason;
  std::printf("%-28s %s %s (gate %.2f s, preparation %.2f s)\n", test.name,
              json["verdict"].as_string().c_str(), reason.c_str(), report->gate.seconds,
              report->gate.prepare_seconds);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Gate, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& test) { return test.param.name; });

}  // namespace
}  // namespace kw::verify_tests

// NVRTC compiles in a worker process, which is this program again.
int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "worker-compile")
    return kw::compile::compile_worker_main();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
