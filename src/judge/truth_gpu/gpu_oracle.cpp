// The problem: the interpreter is slow for truths of many millions of elements. This oracle
// compiles each graph to fp64 kernels and runs them on a device of its own. The alternative,
// PyTorch in fp64, gives values but no error bounds. The cost: one compile per graph and shape,
// kept for up to 64 graphs, and up to 60 % of the device's memory. Every failure (no rule, no
// memory, a device error) falls back to the interpreter.
#include "truth_gpu/gpu_oracle.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "truth/output.h"

namespace kw::truth_gpu {

using graph::Graph;
using ports::Truth;
using ports::TruthOptions;
using tensor::HostTensor;

namespace {

constexpr size_t kMostGraphs = 64;   // compiled graphs to keep
constexpr double kMemoryPart = 0.6;  // share of the device's memory that a truth may use

int64_t most_elements(const Graph& graph, const std::vector<HostTensor>& inputs) {
  int64_t most = 0;
  for (const HostTensor& input : inputs) most = std::max(most, truth::count_of(input.shape));
  for (const graph::NamedNode& output : graph.outputs)
    most = std::max(most, truth::count_of(graph::values_of(graph[output.node].shape)));
  return most;
}

// print() writes shapes and numbers as expressions of dims, so the key adds their values.
std::string key_of(const Graph& graph, const TruthOptions& options) {
  std::string key =
      fmt::format("{} {}\n{}", options.flush, options.allow_tf32, graph::print(graph));
  for (const graph::Node& node : graph.nodes) {
    for (const graph::Shape& dims : {node.shape, node.attrs.starts})
      for (const int64_t value : graph::values_of(dims)) key += fmt::format(" {}", value);
    key += fmt::format(" {:a} {}\n", node.attrs.number, node.attrs.integer);
  }
  return key;
}

Error failed(const ports::CompileFailed& failure) {
  return environment_error("the kernels of the truth do not compile: " +
                           (failure.messages.empty() ? failure.log : failure.messages[0].text));
}

/// Moves one output out of a run's buffers.
truth::Tensor take_output(const Graph& graph, const GpuPlan& plan, size_t k,
                          std::vector<HostTensor>& buffers) {
  const NodeBuffers& from = plan.outputs[k];
  const auto data = [&](int buffer) {
    return buffer < 0 ? tensor::Bytes() : std::move(buffers[static_cast<size_t>(buffer)].data);
  };
  truth::Tensor value;
  value.dtype = graph[graph.outputs[k].node].dtype;
  value.shape = plan.facts[k].shape;
  value.tracks = plan.facts[k].tracks;
  if (value.tracks.integer) {
    value.i = tensor::Large<int64_t>::adopt(data(from.t));
  } else {
    value.t = tensor::Large<double>::adopt(data(from.t));
    value.a = tensor::Large<float>::adopt(data(from.a));
    value.h = tensor::Large<float>::adopt(data(from.h));
  }
  value.lo = tensor::Large<float>::adopt(data(from.lo));
  value.hi = tensor::Large<float>::adopt(data(from.hi));
  return value;
}

std::vector<Truth> collect(const Graph& graph, const GpuPlan& plan, std::vector<HostTensor> buffers,
                           int threads) {
  std::vector<Truth> truths;
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const auto same = [&](size_t j) { return graph.outputs[j].node == graph.outputs[k].node; };
    size_t first = 0;
    while (!same(first)) ++first;
    if (first < k) {
      truths.push_back(truths[first]);
      truths.back().name = graph.outputs[k].name;
      continue;
    }
    truths.push_back(truth::to_truth(take_output(graph, plan, k, buffers), graph.outputs[k].name,
                                     plan.facts[k], threads));
  }
  return truths;
}

}  // namespace

double work_of_truth(const Graph& graph) {
  constexpr double kProductsPerElement = 16;
  const std::vector<truth::NodeFacts> facts =
      truth::gather_facts(graph, truth::Mode::HalfOnly, false);
  const auto elements = [&](graph::NodeId node) {
    return static_cast<double>(truth::count_of(facts[static_cast<size_t>(node)].shape));
  };
  double work = 0;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const graph::Node& node = graph.nodes[id];
    if (!facts[id].needed || node.inputs.empty() || truth::is_view_op(node.op)) continue;
    const auto self = static_cast<graph::NodeId>(id);
    double own = elements(self);
    for (const graph::NodeId in : node.inputs) own = std::max(own, elements(in));
    if (node.op == graph::Op::MatMul) {
      const double depth =
          static_cast<double>(facts[static_cast<size_t>(node.inputs[0])].shape.back());
      own += elements(self) * depth / kProductsPerElement;
    }
    work += own;
  }
  return work;
}

GpuOracle::GpuOracle(ports::Compiler& compiler, OpenDevice open, GpuOracleOptions options)
    : compiler_(compiler), open_(std::move(open)), options_(options) {}

GpuOracle::~GpuOracle() = default;

Result<std::vector<Truth>> GpuOracle::truth(const Graph& graph,
                                            const std::vector<HostTensor>& inputs,
                                            const TruthOptions& options) {
  if (most_elements(graph, inputs) < options_.least_elements &&
      work_of_truth(graph) < options_.least_work) {
    ++small_;
    return interpreter_.truth(graph, inputs, options);
  }
  Result<std::vector<Truth>> made = on_device(graph, inputs, options);
  if (made) {
    ++on_device_;
    return made;
  }
  ++on_cpu_;
  reason_ = made.error().message;
  return interpreter_.truth(graph, inputs, options);
}

Result<std::vector<HostTensor>> GpuOracle::op_by_op(const Graph& graph,
                                                    const std::vector<HostTensor>& inputs,
                                                    const TruthOptions& options) {
  return interpreter_.op_by_op(graph, inputs, options);
}

std::string GpuOracle::made_by() const {
  if (on_device_ + on_cpu_ == 0) return "CPU";
  std::string text = fmt::format("{} on {}, {} on the CPU", on_device_,
                                 device_ ? device_->info().name : "no device", on_cpu_ + small_);
  if (on_cpu_ > 0) text += fmt::format(" ({} large ones: {})", on_cpu_, reason_);
  return text;
}

Result<ports::ImageId> GpuOracle::compile(GpuPlan* plan) {
  ports::CompileRequest request;
  request.source = plan->source;
  request.file_name = plan->program.module_name;
  request.target = device_->info().target;
  request.image = device_->info().image;
  request.kernels = plan->kernels;
  request.timeout_seconds = options_.timeout_seconds;
  const ports::CompileOutcome outcome = KW_TRY(compiler_.compile(request));
  if (!outcome.compiled) return failed(*outcome.failed);
  for (size_t k = 0; k < plan->kernels.size(); ++k) {
    const auto& kernels = outcome.compiled->kernels;
    const auto found =
        std::ranges::find(kernels, plan->kernels[k], &ports::CompiledKernel::expression);
    if (found == kernels.end()) return environment_error("the compiler lost a kernel of the truth");
    plan->program.launches[k].entry = found->entry;
  }
  return device_->load(*outcome.compiled);
}

Result<GpuOracle::Loaded*> GpuOracle::load(const Graph& graph, const TruthOptions& options) {
  const std::string key = key_of(graph, options);
  const auto known = loaded_.find(key);
  if (known != loaded_.end()) return &known->second;
  if (loaded_.size() >= kMostGraphs) loaded_.clear();
  Loaded& made = loaded_[key];
  Result<GpuPlan> plan = plan_on_gpu(graph, options);
  if (!plan) {
    made.refused = plan.error().message;
    return &made;
  }
  made.plan = std::move(plan).value();
  const auto memory = static_cast<double>(device_->info().memory_bytes);
  if (memory > 0 && static_cast<double>(made.plan.bytes) > kMemoryPart * memory) {
    made.refused = "it does not fit the device's memory";
    return &made;
  }
  Result<ports::ImageId> image = compile(&made.plan);
  if (image) {
    made.image = *image;
  } else {
    made.refused = image.error().message;
  }
  return &made;
}

Result<std::vector<Truth>> GpuOracle::on_device(const Graph& graph,
                                                const std::vector<HostTensor>& inputs,
                                                const TruthOptions& options) {
  if (!lost_.empty()) return environment_error(lost_);
  if (device_ == nullptr) {
    Result<std::unique_ptr<ports::Device>> opened = open_();
    if (!opened) {
      lost_ = opened.error().message;
      return std::move(opened).error();
    }
    device_ = std::move(opened).value();
  }
  const Loaded* loaded = KW_TRY(load(graph, options));
  if (!loaded->refused.empty()) return environment_error(loaded->refused);
  const GpuPlan& plan = loaded->plan;
  const HostTensor nothing_found = KW_TRY(tensor::make_tensor(tensor::DType::Uint32, {1}));
  ports::InputViews views;
  for (size_t i = 0; i < plan.program.buffers.size(); ++i) {
    const bool input = i < inputs.size() && plan.program.buffers[i].present;
    if (input && (inputs[i].dtype != plan.program.buffers[i].dtype ||
                  inputs[i].shape != plan.program.buffers[i].shape))
      return input_error("inputs that do not fit the graph");
    views.add(input ? &inputs[i] : static_cast<int>(i) == plan.found ? &nothing_found : nullptr);
  }
  ports::RunOptions run;
  run.timeout_seconds = options_.timeout_seconds;
  run.threads = options.threads;
  ports::RunOutcome outcome = KW_TRY(device_->run(loaded->image, plan.program, views, run));
  if (outcome.status != ports::RunStatus::Completed)
    return environment_error("{}: {}", run_status_name(outcome.status), outcome.message);
  for (const record::Finding& finding : outcome.findings) {
    if (finding.certainty == record::Certainty::Certain)
      return environment_error("a kernel of the truth: " + finding.message);
  }
  uint32_t found = 0;
  const HostTensor& word = outcome.buffers[static_cast<size_t>(plan.found)];
  std::memcpy(&found, word.data.data(), sizeof(found));
  if ((found & kFoundMistake) != 0)
    return environment_error("an index points nowhere, or an integer is divided by zero");
  if ((found & kFoundJumps) != 0)
    return environment_error("a discontinuity is near, and no device code for what follows");
  // Only the interpreter computes what overflow may give.
  if ((found & kFoundOutOfRange) != 0)
    return environment_error("a value leaves the range of its type");
  const int threads = truth::thread_count(options);
  std::vector<Truth> truths = collect(graph, plan, std::move(outcome.buffers), threads);
  if ((found & kFoundUnbounded) != 0)
    KW_TRY(interpreter_.settle_poles(graph, inputs, options, truths));
  return truths;
}

}  // namespace kw::truth_gpu
