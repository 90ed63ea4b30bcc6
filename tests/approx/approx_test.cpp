// Every shortcut, written into a kernel and run on the virtual GPU, over every fp16 and every bf16
// input and many fp32 ones: the largest z the judge sees must leave room.
#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <memory>
#include <random>

#include <fmt/core.h>

#include "arch/arch.h"
#include "compile/compile_worker.h"
#include "core/text.h"
#include "graph/term.h"
#include "kernel/instantiate.h"
#include "kernel/module.h"
#include "kernel/parse_module.h"
#include "kernel/select.h"
#include "machine/devices.h"
#include "metric/metric.h"
#include "os/files.h"
#include "single_run/run_module.h"
#include "text/approx.h"
#include "truth/interpreter.h"

namespace kw::approx_tests {
namespace {

using graph::apply;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;
using graph::Term;
using tensor::DType;

Term gelu(const Term& x) { return x * 0.5 * (1 + apply(Op::Erf, x * 0.70710678118654752440)); }
Term gelu_tanh(const Term& x) {
  return x * 0.5 * (1 + apply(Op::Tanh, (x + x * x * x * 0.044715) * 0.79788456080286535588));
}
Term softplus(const Term& x) {
  return graph::where(apply(Op::Gt, x, 20.0), x, apply(Op::Log1p, apply(Op::Exp, x)));
}

struct Case {
  const char* name;
  Term (*formula)(const Term& x);
  const char* calls;  // how the name of a device function ends that must have been found
};

const Case kCases[] = {
    {"Exp", [](const Term& x) { return apply(Op::Exp, x); }, "fast_exp"},
    {"Expm1", [](const Term& x) { return apply(Op::Expm1, x); }, ""},
    {"Tanh", [](const Term& x) { return apply(Op::Tanh, x); }, "fast_tanh"},
    {"Tanhshrink", [](const Term& x) { return x - apply(Op::Tanh, x); }, "fast_tanh"},
    {"Sigmoid", [](const Term& x) { return apply(Op::Sigmoid, x); }, "sigmoid"},
    {"Silu", [](const Term& x) { return x * apply(Op::Sigmoid, x); }, "sigmoid"},
    {"SiluByHand", [](const Term& x) { return x / (1 + apply(Op::Exp, apply(Op::Neg, x))); },
     "one_over_one_plus_exp"},
    {"Gelu", gelu, "half_one_plus_erf"},
    {"OnePlusErf", [](const Term& x) { return apply(Op::Erf, x) + 1; }, "half_one_plus_erf"},
    {"HalfOfIt", [](const Term& x) { return (apply(Op::Erf, x) + 1) * 0.5; }, "half_one_plus_erf"},
    {"GeluTanh", gelu_tanh, "sigmoid"},
    {"Softplus", softplus, "fast_softplus"},
    {"Mish", [](const Term& x) { return x * apply(Op::Tanh, softplus(x)); }, "tanh_softplus"},
    {"MishByTorch",
     [](const Term& x) { return x * apply(Op::Tanh, apply(Op::Log1p, apply(Op::Exp, x))); },
     "tanh_softplus"},
    {"LogSigmoid",
     [](const Term& x) {
       return apply(Op::Minimum, x, 0.0) -
              apply(Op::Log1p, apply(Op::Exp, apply(Op::Neg, apply(Op::Abs, x))));
     },
     "fast_softplus"},
    {"Elu",
     [](const Term& x) { return graph::where(apply(Op::Le, x, 0.0), apply(Op::Expm1, x), x); }, ""},
    {"Reciprocal", [](const Term& x) { return Term(1.5) / x; }, "fast_divide"},
    {"Quotient", [](const Term& x) { return x / (x * x + 0.25); }, "fast_divide"},
    {"OfLarge", [](const Term& x) { return x * 1e30 / (x * 1e32 + 1e-30); }, "fast_divide"},
    {"ByAConstant", [](const Term& x) { return x / 6.0; }, ""},
};

/// The graph as one fp32 expression, shortcuts first; only the ops of the cases above.
class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph) {}

  std::string value(NodeId id) {
    if (const auto shortcut = generate::find_shortcut(graph_, id)) {
      std::string text = shortcut->expression;
      for (size_t i = 0; i < shortcut->arguments.size(); ++i)
        text = replace_all(text, fmt::format("{{{}}}", i), value(shortcut->arguments[i]));
      functions_.insert(shortcut->functions.begin(), shortcut->functions.end());
      return "(" + text + ")";
    }
    const Node& node = graph_[id];
    std::vector<std::string> in;
    for (const NodeId input : node.inputs) in.push_back(value(input));
    return plain(node, in);
  }
  const std::set<std::string>& functions() const { return functions_; }

 private:
  static std::string plain(const Node& node, const std::vector<std::string>& in) {
    switch (node.op) {
      case Op::Input:
        return "v";
      case Op::Constant:
        return fmt::format("{:.9e}f", node.attrs.number);
      case Op::Cast:
      case Op::Expand:
        return in[0];
      case Op::Neg:
        return "(-" + in[0] + ")";
      case Op::Abs:
        return "fabsf(" + in[0] + ")";
      case Op::Expm1:
        return "expm1f(" + in[0] + ")";
      case Op::Add:
        return "(" + in[0] + " + " + in[1] + ")";
      case Op::Sub:
        return "(" + in[0] + " - " + in[1] + ")";
      case Op::Mul:
        return "(" + in[0] + " * " + in[1] + ")";
      case Op::Minimum:
        return "(" + in[0] + " > " + in[1] + " ? " + in[1] + " : " + in[0] + ")";
      case Op::Gt:
        return "(" + in[0] + " > " + in[1] + ")";
      case Op::Le:
        return "(" + in[0] + " <= " + in[1] + ")";
      case Op::Where:
        return "(" + in[0] + " ? " + in[1] + " : " + in[2] + ")";
      default:
        throw std::runtime_error(std::string("the cases need ") + graph::op_info(node.op).name);
    }
  }

  const Graph& graph_;
  std::set<std::string> functions_;
};

Graph graph_of(const Case& test, DType dtype, int64_t count) {
  graph::Builder builder;
  const NodeId x = builder.input("x", dtype, {graph::Dim::symbol("N", count)});
  graph::Formula formula(builder);
  // As PyTorch's activations do it: up to fp32, and one rounding at the end.
  const auto y = formula.done(test.formula(graph::wide(formula(x))), dtype);
  if (!y) throw std::runtime_error(y.error().message);
  return std::move(builder).finish({{"y", *y}});
}

std::string module_of(const Graph& graph, DType dtype, Writer& writer) {
  const std::string body = writer.value(graph.outputs[0].node);
  const bool fp32 = dtype == DType::Fp32;
  const std::string type = fp32 ? "float" : dtype == DType::Fp16 ? "__half" : "__nv_bfloat16";
  const std::string up = fp32                   ? "x[i]"
                         : dtype == DType::Fp16 ? "__half2float(x[i])"
                                                : "__bfloat162float(x[i])";
  const std::string down = fp32                   ? body
                           : dtype == DType::Fp16 ? "__float2half_rn(" + body + ")"
                                                  : "__float2bfloat16_rn(" + body + ")";
  const std::string name(tensor::dtype_name(dtype));
  return fmt::format(R"(//! kernelwright 1
//! task    approx
//! input   x: {0}[N]
//! output  y: {0}[N]
//! tune    FAST_MATH in 1, 0
//! launch  k grid(ceil_div(N, 256)) block(256) args(x, y, N)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

{1}
__global__ void k(const {2}* x, {2}* y, int n) {{
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  const float v = {3};
  y[i] = {4};
}}
)",
                     name, generate::device_functions(writer.functions()), type, up, down);
}

/// Every value of a half type; for fp32 values of every size, thickest where functions bend.
tensor::HostTensor inputs_of(DType dtype) {
  const int64_t count = dtype == DType::Fp32 ? 1 << 19 : 1 << 16;
  tensor::HostTensor x = *tensor::make_tensor(dtype, {count});
  if (dtype != DType::Fp32) {
    for (int64_t i = 0; i < count; ++i) {
      x.data[static_cast<size_t>(2 * i)] = static_cast<std::byte>(i & 255);
      x.data[static_cast<size_t>(2 * i + 1)] = static_cast<std::byte>(i >> 8);
    }
    return x;
  }
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> wide(-100, 100), near(-4, 4), close(-0.7, 0.7);
  for (int64_t i = 0; i < count; ++i) {
    const float any = std::bit_cast<float>(static_cast<uint32_t>(random()));
    const double picks[] = {static_cast<double>(any), wide(random), near(random), close(random)};
    tensor::set_element(x, i, picks[i % 4]);
  }
  return x;
}

struct Tools {
  std::string problem;
  std::unique_ptr<ports::Compiler> compiler;
  std::unique_ptr<ports::Device> device;

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

Result<tensor::HostTensor> run(const std::string& text, const tensor::HostTensor& x, int fast) {
  const auto parsed = kernel::parse(text, "approx.cu");
  if (!parsed.module) return input_error("the module does not parse:\n" + text);
  kernel::Bindings bindings;
  bindings.dims = {{"N", x.shape[0]}};
  bindings.tunes = {{"FAST_MATH", fast}};
  bindings.target = KW_TRY(arch::find_target("sm_90"));
  const kernel::Selection selection = KW_TRY(kernel::select(*parsed.module, bindings));
  ports::CompileRequest request;
  request.source = text;
  request.file_name = "approx.cu";
  request.target = "sm_90";
  request.defines = selection.defines;
  request.kernels = selection.kernels;
  const ports::CompileOutcome outcome = KW_TRY(tools().compiler->compile(request));
  if (outcome.failed) return input_error(outcome.failed->log);
  const ports::ImageId image = KW_TRY(tools().device->load(*outcome.compiled));
  const kernel::Program program = KW_TRY(kernel::instantiate(
      *parsed.module, bindings, selection, single_run::kernel_infos(*outcome.compiled)));
  const std::vector<tensor::HostTensor> inputs = {x, {}};
  ports::RunOutcome ran = KW_TRY(tools().device->run(image, program, inputs, {}));
  if (ran.status != ports::RunStatus::Completed) return input_error(ran.message);
  return std::move(ran.buffers[1]);
}

class Approximation : public testing::TestWithParam<std::tuple<Case, DType>> {};

TEST_P(Approximation, StaysWellInsideTheBound) {
  if (!tools().problem.empty()) GTEST_SKIP() << tools().problem;
  const auto& [test, dtype] = GetParam();
  const tensor::HostTensor x = inputs_of(dtype);
  const Graph graph = graph_of(test, dtype, x.shape[0]);
  Writer writer(graph);
  const std::string text = module_of(graph, dtype, writer);
  bool found = false;
  for (const std::string& name : writer.functions()) found |= name.ends_with(test.calls);
  EXPECT_TRUE(found || *test.calls == 0) << text;
  truth::Interpreter oracle;
  const auto truths = oracle.truth(graph, {x}, {});
  ASSERT_TRUE(truths) << truths.error().message;
  double z[2] = {0, 0};  // accurate, fast
  for (const int fast : {0, 1}) {
    const auto got = run(text, x, fast);
    ASSERT_TRUE(got) << got.error().message;
    const metric::Comparison judged = metric::compare(truths->front(), *got, {});
    EXPECT_TRUE(judged.pass) << judged.reason << "\n" << text;
    z[fast] = judged.summary.max_z;
  }
  std::printf("z %.3f, with CUDA's own functions %.3f\n", z[1], z[0]);
  // Half of the bound is one rounding to a half type; where CUDA's own functions need more than
  // that (results that overflow on the way), so may the fast ones.
  EXPECT_LE(z[1], std::max(0.55, z[0] + 0.01)) << text;
}

INSTANTIATE_TEST_SUITE_P(All, Approximation,
                         testing::Combine(testing::ValuesIn(kCases),
                                          testing::Values(DType::Fp16, DType::Bf16, DType::Fp32)),
                         [](const auto& given) {
                           return fmt::format(
                               "{}_{}", std::get<0>(given.param).name,
                               std::string(tensor::dtype_name(std::get<1>(given.param))));
                         });

}  // namespace
}  // namespace kw::approx_tests

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "worker-compile")
    return kw::compile::compile_worker_main();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
