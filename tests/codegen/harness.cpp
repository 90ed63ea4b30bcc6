#include "harness.h"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>

#include "arch/arch.h"
#include "binding/load.h"
#include "kernel/instantiate.h"
#include "kernel/select.h"
#include "machine/devices.h"
#include "metric/metric.h"
#include "os/files.h"
#include "single_run/run_module.h"

namespace kw::codegen_tests {

namespace {

class FixedGraph final : public task::Reference {
 public:
  explicit FixedGraph(graph::Graph graph) : graph_(std::move(graph)) {}
  Result<graph::Graph> trace(const task::Dims&) const override { return graph_; }

 private:
  graph::Graph graph_;
};

}  // namespace

Harness& Harness::get() {
  static Harness harness;
  return harness;
}

Harness::Harness() {
  auto compiler = machine::open_compiler(os::env("KW_TEST_COMPILER"));
  if (!compiler) {
    problem_ = compiler.error().message;
    return;
  }
  compiler_ = std::move(compiler).value();
  auto device = machine::open_device({"vgpu", "", 0, {}});
  if (!device) {
    problem_ = device.error().message;
    return;
  }
  device_ = std::move(device).value();
}

generate::Options Harness::options() const {
  generate::Options options;
  options.target = *arch::find_target("sm_90");
  return options;
}

std::string Harness::judge(const std::string& module_text, const task::Task& task,
                           verification::VerifyPools& pools, const std::string& family) {
  verification::VerifyRequest request;
  request.module_path = task.name + ".cu";
  request.reference_path = task.source_path;
  request.seed = 20;
  request.family = family;
  request.timeout_seconds = 600;  // a busy machine is no verdict
  verification::VerifyTools tools;
  tools.compiler = compiler_.get();
  tools.virtual_gpu = device_.get();
  tools.oracle = &oracle_;
  const auto report = verification::verify_module(module_text, task, request, tools, {}, &pools);
  if (!report) return "error: " + report.error().message;
  if (report->ok()) return "";
  return to_json(*report).dump().substr(0, 1500);
}

Result<std::vector<tensor::HostTensor>> Harness::run(const std::string& module_text,
                                                     const graph::Graph& graph,
                                                     const std::vector<tensor::HostTensor>& inputs,
                                                     const task::Dims& dims,
                                                     const Setting& setting) {
  const kernel::Module module = KW_TRY(binding::parse_module(module_text, "case.cu"));
  kernel::Bindings bindings;
  bindings.target = options().target;
  bindings.dims = dims;
  bindings.sms = setting.sms;
  bindings.tunes = setting.tunes;
  const kernel::Selection selection = KW_TRY(kernel::select(module, bindings));
  ports::CompileRequest request;
  request.source = module_text;
  request.file_name = "case.cu";
  request.target = bindings.target.name;
  request.defines = selection.defines;
  request.kernels = selection.kernels;
  const ports::CompileOutcome compiled = KW_TRY(compiler_->compile(request));
  if (compiled.failed) return input_error("does not compile:\n" + compiled.failed->log);
  const kernel::Program program = KW_TRY(kernel::instantiate(
      module, bindings, selection, single_run::kernel_infos(*compiled.compiled)));
  std::vector<tensor::HostTensor> given;
  for (const kernel::Buffer& buffer : program.buffers) {
    given.emplace_back();
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      const std::string& name = graph.inputs[i].name;  // a word of C++ gets an underscore
      if (buffer.name == name || buffer.name == name + "_") given.back() = inputs[i];
    }
  }
  const ports::ImageId image = KW_TRY(device_->load(*compiled.compiled));
  ports::RunOptions options;
  options.timeout_seconds = 120;
  ports::RunOutcome outcome = KW_TRY(device_->run(image, program, given, options));
  if (outcome.status != ports::RunStatus::Completed || !outcome.findings.empty()) {
    const std::string finding =
        outcome.findings.empty() ? outcome.message : outcome.findings[0].message;
    return input_error(fmt::format("{}: {}", ports::run_status_name(outcome.status), finding));
  }
  std::vector<tensor::HostTensor> outputs;
  for (const graph::NamedNode& output : graph.outputs) {
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      if (program.buffers[b].name == output.name) outputs.push_back(outcome.buffers[b]);
    }
  }
  return outputs;
}

std::string Harness::judge(const std::string& module_text, const graph::Graph& graph,
                           const std::vector<tensor::HostTensor>& inputs, const task::Dims& dims,
                           const Setting& setting) {
  ports::TruthOptions options;
  options.threads = 1;
  const auto truths = oracle_.truth(graph, inputs, options);
  if (!truths) return "no truth: " + truths.error().message;
  auto outputs = run(module_text, graph, inputs, dims, setting);
  if (!outputs) return outputs.error().message;
  if (outputs->size() != truths->size()) return "an output is missing";
  for (size_t i = 0; i < truths->size(); ++i) {
    (*outputs)[i].shape = (*truths)[i].shape;
    const metric::Comparison comparison = metric::compare((*truths)[i], (*outputs)[i], {});
    if (comparison.pass) continue;
    const auto& worst = comparison.summary.worst;
    return fmt::format("output {}: {}{}", i, comparison.reason,
                       worst ? fmt::format(" ({}: got {}, want {})", metric::element_text(*worst),
                                           worst->got, worst->want)
                             : "");
  }
  return "";
}

task_formats::LoadOptions options_of(const std::string& path) {
  task_formats::LoadOptions options;
  const auto text = os::read_file(path);
  if (!text) return options;
  std::istringstream words(text->substr(0, text->find('\n')));
  std::string word;
  if (!(words >> word && word == "#" && words >> word && word == "options:")) return options;
  while (words >> word) {
    std::string value;
    words >> value;
    if (word == "--input") options.inputs.push_back(value);
    if (word == "--function") options.function = value;
    if (word == "--mode") options.evaluation = value == "eval";
    if (word == "--dims") {
      const size_t equals = value.find('=');
      options.dims[value.substr(0, equals)] = std::stoll(value.substr(equals + 1));
    }
  }
  return options;
}

task::Task task_of(const graph::Graph& graph) {
  task::Task task;
  task.name = "graph";
  for (const graph::NamedNode& input : graph.inputs) {
    task::TensorSpec spec;
    spec.name = input.name;
    spec.dtype = graph[input.node].dtype;
    for (const graph::Dim& dim : graph[input.node].shape) spec.shape.push_back(dim.text());
    task.inputs.push_back(std::move(spec));
  }
  for (const graph::NamedNode& output : graph.outputs) task.output_names.push_back(output.name);
  task.correctness_shapes = task.benchmark_shapes = {{}};
  task.reference = std::make_shared<FixedGraph>(graph);
  return task;
}

bool is_floor(const generate::Design& design) {
  return std::any_of(design.choices.begin(), design.choices.end(),
                     [](const generate::Choice& one) { return one.schedule == "generic"; });
}

}  // namespace kw::codegen_tests
