// How fast the truth is: 16M elements through pointwise ops and row reductions, matrix products,
// and the size of a benchmark (65536 x 4096) on the CPU and by kernels on the GPU. Bytes are those
// of the inputs and outputs in their declared types.
#include <benchmark/benchmark.h>

#include <cstring>
#include <utility>
#include <vector>

#include "compile/compile_worker.h"
#include "gpu/gpu_worker.h"
#include "graph/builder.h"
#include "machine/devices.h"
#include "tensor/inputs.h"
#include "truth/interpreter.h"
#include "verification/verify_tools.h"

namespace {

using kw::graph::Builder;
using kw::graph::Graph;
using kw::graph::NodeId;
using kw::graph::Op;
using kw::graph::Operand;
using kw::tensor::DType;
using kw::tensor::HostTensor;

NodeId got(kw::Result<NodeId> result) { return std::move(result).value(); }
Operand of(NodeId id) { return Operand::tensor(id); }

NodeId binary(Builder& b, Op op, NodeId x, NodeId z) { return got(b.binary(op, of(x), of(z))); }
NodeId binary(Builder& b, Op op, NodeId x, double z) {
  return got(b.binary(op, of(x), Operand::of(z)));
}

NodeId softmax(Builder& b, NodeId x) {
  x = b.cast(x, DType::Fp32);
  const NodeId e =
      got(b.unary(Op::Exp, binary(b, Op::Sub, x, got(b.reduce(Op::Max, x, {1}, true)))));
  return b.cast(binary(b, Op::Div, e, got(b.reduce(Op::Sum, e, {1}, true))), DType::Fp16);
}

NodeId rms_norm(Builder& b, NodeId x) {
  x = b.cast(x, DType::Fp32);
  const NodeId sum = got(b.reduce(Op::Sum, binary(b, Op::Mul, x, x), {1}, true));
  const NodeId mean = binary(b, Op::Add, binary(b, Op::Div, sum, 1024.0), 1e-6);
  return b.cast(binary(b, Op::Mul, x, got(b.unary(Op::Rsqrt, mean))), DType::Fp16);
}

NodeId gelu(Builder& b, NodeId x) {
  const NodeId erf = got(b.unary(Op::Erf, binary(b, Op::Mul, x, 0.7071067811865476)));
  return binary(b, Op::Mul, binary(b, Op::Mul, x, 0.5), binary(b, Op::Add, erf, 1.0));
}

NodeId axpb(Builder& b, NodeId x) { return binary(b, Op::Add, binary(b, Op::Mul, x, 1.5), 0.25); }

NodeId column_sum(Builder& b, NodeId x) { return got(b.reduce(Op::Sum, x, {0}, true)); }
NodeId cumsum(Builder& b, NodeId x) { return got(b.scan(Op::CumSum, x, 1)); }

using Body = NodeId (*)(Builder&, NodeId);

struct Case {
  Graph graph;
  std::vector<HostTensor> inputs;
};

Case make_case(Body body, DType dtype, const std::vector<int64_t>& shape) {
  Builder b;
  const NodeId x = b.input("x", dtype, {shape[0], shape[1]});
  const NodeId y = body(b, x);
  Case made;
  made.graph = std::move(b).finish({{"y", y}});
  made.inputs.push_back(
      kw::tensor::make_input(dtype, shape, kw::tensor::Family::Normal, 1).value());
  return made;
}

void measure(benchmark::State& state, const Case& c, kw::ports::Oracle& oracle) {
  size_t out = 0;
  for (auto _ : state) {
    const auto truths = oracle.truth(c.graph, c.inputs, {}).value();
    out = truths[0].value.size() * static_cast<size_t>(kw::tensor::dtype_size(truths[0].dtype));
    benchmark::DoNotOptimize(truths[0].value.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) *
                          static_cast<int64_t>(c.inputs[0].data.size() + out));
}

void truth(benchmark::State& state, Body body, DType dtype) {
  kw::truth::Interpreter interpreter;
  measure(state, make_case(body, dtype, {16384, 1024}), interpreter);
}

void large(benchmark::State& state, Body body, bool on_gpu) {
  const Case c = make_case(body, DType::Fp16, {65536, 4096});
  if (!on_gpu) {
    kw::truth::Interpreter interpreter;
    return measure(state, c, interpreter);
  }
  const auto gpu = kw::machine::open_device({"gpu", "", 60, {}});
  const auto compiler = kw::machine::open_compiler("");
  if (!gpu || !compiler)
    return state.SkipWithError((gpu ? compiler.error() : gpu.error()).message.c_str());
  const auto oracle = kw::verification::open_oracle({compiler->get(), gpu->get(), 0});
  // The first one starts the worker and compiles.
  benchmark::DoNotOptimize(oracle->truth(c.graph, c.inputs, {}).value().data());
  measure(state, c, *oracle);
  state.SetLabel(oracle->made_by());
}

void product(benchmark::State& state) {
  const int64_t n = state.range(0);
  Builder b;
  const NodeId x = b.input("x", DType::Fp16, {n, n});
  const Graph graph = [&] {
    const NodeId y = got(b.matmul(x, x));
    return std::move(b).finish({{"y", y}});
  }();
  const std::vector<HostTensor> inputs = {
      kw::tensor::make_input(DType::Fp16, {n, n}, kw::tensor::Family::Normal, 1).value()};
  for (auto _ : state) {
    const auto truths = kw::truth::Interpreter().truth(graph, inputs, {}).value();
    benchmark::DoNotOptimize(truths[0].value.data());
  }
  state.counters["GFLOP/s"] = benchmark::Counter(
      2e-9 * static_cast<double>(n * n * n) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}

#define KW_TRUTH(name, body, dtype)           \
  BENCHMARK_CAPTURE(truth, name, body, dtype) \
      ->Unit(benchmark::kMillisecond)         \
      ->MeasureProcessCPUTime()               \
      ->UseRealTime()
KW_TRUTH(axpb_fp32_16M, axpb, DType::Fp32);
KW_TRUTH(gelu_fp32_16M, gelu, DType::Fp32);
KW_TRUTH(gelu_bf16_16M, gelu, DType::Bf16);
KW_TRUTH(softmax_fp16_16384x1024, softmax, DType::Fp16);
KW_TRUTH(rms_norm_fp16_16384x1024, rms_norm, DType::Fp16);
KW_TRUTH(column_sum_fp32_16384x1024, column_sum, DType::Fp32);
KW_TRUTH(cumsum_fp32_16384x1024, cumsum, DType::Fp32);
#define KW_LARGE(name, body)                                   \
  BENCHMARK_CAPTURE(large, name##_65536x4096_cpu, body, false) \
      ->Unit(benchmark::kMillisecond)                          \
      ->Iterations(2)                                          \
      ->MeasureProcessCPUTime()                                \
      ->UseRealTime();                                         \
  BENCHMARK_CAPTURE(large, name##_65536x4096_gpu, body, true)  \
      ->Unit(benchmark::kMillisecond)                          \
      ->Iterations(3)                                          \
      ->MeasureProcessCPUTime()                                \
      ->UseRealTime()
KW_LARGE(axpb, axpb);
KW_LARGE(gelu, gelu);
KW_LARGE(softmax, softmax);
KW_LARGE(rms_norm, rms_norm);
KW_LARGE(column_sum, column_sum);
BENCHMARK(product)
    ->Arg(256)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "worker-gpu") == 0) return kw::gpu::gpu_worker_main();
  if (argc == 2 && std::strcmp(argv[1], "worker-compile") == 0)
    return kw::compile::compile_worker_main();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
