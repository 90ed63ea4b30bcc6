// PyTorch must evaluate the reference with our inputs, and its outputs must be judged by our truth.
// Each argument is sent as a tensor, a number or a dim; for a gradient the forward is called and
// autograd gets our upstream gradients. The judge is the same as for candidates, with a wider bound
// for half types, because PyTorch's CPU kernels round intermediate values. Comparing within a fixed
// tolerance was the alternative; it fails for large values and hides errors in small ones. The
// cost: a difference smaller than such a rounding is not seen.
#include "verification/torch_reference.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "binding/inputs.h"
#include "core/contains.h"
#include "frontend/backward.h"
#include "frontend/trace.h"
#include "metric/metric.h"
#include "ports/bound.h"
#include "reference/export_reference.h"
#include "tensor/convert.h"
#include "torch_worker/torch_export.h"

namespace kw::verification {
namespace {

using tensor::HostTensor;

Json scalar_value(const task::ScalarSpec& spec) {
  if (spec.dtype == tensor::DType::Bool) return Json(spec.integer != 0);
  if (!tensor::is_float(spec.dtype)) return Json(spec.integer);
  if (spec.number - spec.number == 0) return Json(spec.number);
  Json special = Json::object();  // JSON has no infinities
  special.set("float", spec.number != spec.number ? "nan" : spec.number > 0 ? "inf" : "-inf");
  return special;
}

/// One argument of the reference. A tensor that the reference only writes is zeros.
Result<torch_worker::TorchArgument> torch_argument(const frontend::Argument& argument,
                                                   const task::Dims& dims,
                                                   const graph::Graph& graph,
                                                   const std::vector<HostTensor>& inputs) {
  if (const auto* spec = std::get_if<task::ScalarSpec>(&argument.value)) {
    return torch_worker::TorchArgument{argument.name, nullptr, scalar_value(*spec)};
  }
  if (const auto* text = std::get_if<frontend::TensorArgument>(&argument.value)) {
    if (const HostTensor* given = binding::input_named(graph, inputs, argument.name)) {
      return torch_worker::TorchArgument{argument.name, given, {}};
    }
    const graph::Shape shape = KW_TRY(frontend::shape_at(text->text.shape, dims));
    return torch_worker::zeros_argument(argument.name, text->text.dtype, graph::values_of(shape));
  }
  const auto found = dims.find(argument.name);
  if (found == dims.end()) return input_error("no value for dim " + argument.name);
  return torch_worker::TorchArgument{argument.name, nullptr, Json(found->second)};
}

/// Sets which outputs are arguments written in place: those behind the returned ones.
void set_written(const frontend::Trace& trace, torch_worker::TorchCall* call) {
  const std::vector<graph::NamedNode>& outputs = trace.graph.outputs;
  for (size_t i = trace.returned; i < outputs.size(); ++i) call->written.push_back(outputs[i].name);
  call->written_only = trace.returned == 0;
}

double largest_of(const std::vector<HostTensor>& inputs) {
  double largest = 0;
  for (const HostTensor& input : inputs) {
    if (!tensor::is_float(input.dtype)) continue;
    std::vector<double> values(static_cast<size_t>(tensor::value_count(input)));
    tensor::load_values(input, 0, values);
    for (const double value : values) {
      if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    }
  }
  return largest;
}

/// PyTorch's CPU kernels for half types also round intermediate values. log_softmax in fp16
/// computes x - (max + log sum) with the bracket in fp16; its CUDA kernel uses fp32. So half
/// results may be off by one rounding of the inputs' size. On a CPU without fp16, a transposed
/// convolution sums in fp16: off by some roundings of the results' size. Ordinary inputs still show
/// a difference of meaning.
ports::Truth loosened(const ports::Truth& truth, double largest) {
  const double unit = ports::unit_roundoff(truth.dtype);
  ports::Truth loose = truth;
  if (truth.exact || unit <= ports::unit_roundoff(tensor::DType::Fp32)) return loose;
  double most = 0;
  for (const double value : truth.value) {
    if (std::isfinite(value)) most = std::max(most, std::fabs(value));
  }
  loose.h.resize(loose.value.size());
  for (float& h : loose.h) h += static_cast<float>(unit * (largest + 2 * most));
  return loose;
}

/// Autograd may multiply 0 by infinity where the derivative of the whole is a number. So its NaN at
/// extreme inputs prove nothing.
void forgive_nan(const HostTensor& got, ports::Truth* truth) {
  std::vector<double> values(static_cast<size_t>(tensor::value_count(got)));
  tensor::load_values(got, 0, values);
  for (size_t i = 0; i < values.size() && i < truth->value.size(); ++i) {
    if (std::isnan(values[i])) truth->value[i] = values[i];
  }
}

/// The forward's call, with the upstream gradients after its arguments.
Result<torch_worker::TorchCall> gradients_call(const task::Task& task, const task::Dims& dims,
                                               const frontend::BackwardReference& backward,
                                               const graph::Graph& graph,
                                               const std::vector<HostTensor>& inputs) {
  task::Task forward = task;
  forward.reference = backward.forward();
  torch_worker::TorchCall call = KW_TRY(torch_call(forward, dims, graph, inputs));
  const graph::Graph traced = KW_TRY(backward.forward()->trace(dims));
  call.gradients.of = backward.options().of;
  const std::vector<std::string> seeded = graph::differentiable_outputs(traced, call.gradients.of);
  // The upstream gradients are the last inputs, in the order of the outputs.
  size_t next = graph.inputs.size() - std::min(seeded.size(), graph.inputs.size());
  for (size_t i = 0; i < traced.outputs.size(); ++i) {
    const std::string& name = traced.outputs[i].name;
    if (!contains(seeded, name)) continue;
    const std::string& gradient = graph.inputs[next++].name;
    call.gradients.upstream.push_back(gradient);
    call.gradients.outputs.push_back(static_cast<int64_t>(i));
    call.arguments.push_back({gradient, binding::input_named(graph, inputs, gradient), {}});
  }
  return call;
}

}  // namespace

Result<torch_worker::TorchCall> torch_call(const task::Task& task, const task::Dims& dims,
                                           const graph::Graph& graph,
                                           const std::vector<HostTensor>& inputs) {
  const auto* backward = dynamic_cast<const frontend::BackwardReference*>(task.reference.get());
  if (backward != nullptr) return gradients_call(task, dims, *backward, graph, inputs);
  const auto* exported = dynamic_cast<const reference::ExportedReference*>(task.reference.get());
  if (exported != nullptr) {
    torch_worker::TorchCall call = KW_TRY(exported->call(dims, graph, inputs));
    call.allow_tf32 = task.precision.allow_tf32;
    return call;
  }
  const auto* python = dynamic_cast<const frontend::PythonReference*>(task.reference.get());
  if (python == nullptr) return environment_error("the reference of this task is not Python");
  const frontend::TraceEntry& entry = python->entry();
  const frontend::Trace trace = KW_TRY(frontend::trace_entry(entry, dims));
  torch_worker::TorchCall call;
  call.source.path = entry.source->path;
  call.source.text = entry.source->text;
  call.source.entry = entry.name;
  call.source.evaluation = entry.evaluation;
  call.allow_tf32 = task.precision.allow_tf32;
  task::Dims known = trace.file_dims;
  for (const auto& [name, value] : dims) known[name] = value;
  for (const auto& [name, value] : known) call.source.globals.emplace_back(name, value);
  for (const frontend::Argument& argument : entry.arguments) {
    call.arguments.push_back(KW_TRY(torch_argument(argument, known, graph, inputs)));
  }
  for (const frontend::Weight& weight : trace.weights) {
    if (const HostTensor* given = binding::input_named(graph, inputs, weight.name)) {
      call.weights.push_back({weight.name, given, {}});
    }
  }
  set_written(trace, &call);
  return call;
}

std::vector<std::vector<const HostTensor*>> torch_pool(
    const torch_worker::TorchCall& call, const graph::Graph& graph,
    const std::vector<const std::vector<HostTensor>*>& sets) {
  std::vector<std::vector<const HostTensor*>> pool;
  for (const std::vector<HostTensor>* set : sets) {
    std::vector<const HostTensor*>& entry = pool.emplace_back();
    for (const auto* list : {&call.arguments, &call.weights}) {
      for (const torch_worker::TorchArgument& argument : *list) {
        if (argument.tensor != nullptr)
          entry.push_back(binding::input_named(graph, *set, argument.name));
      }
    }
  }
  return pool;
}

Result<torch_worker::CrossChecked> cross_check_task(const task::Task& task, const task::Dims& dims,
                                                    const std::vector<HostTensor>& inputs,
                                                    ports::Oracle& oracle,
                                                    torch_worker::TorchProcess& torch,
                                                    const CallOptions& options) {
  const graph::Graph graph = KW_TRY(task.graph_at(dims));
  torch_worker::CrossCheck check;
  check.graph = &graph;
  check.inputs = &inputs;
  check.call = KW_TRY(torch_call(task, dims, graph, inputs));
  check.call.device = options.device;
  check.timeout_seconds = options.timeout_seconds;
  check.options.allow_tf32 = task.precision.allow_tf32;
  // Some of PyTorch's CPU kernels flush subnormals (GELU in bf16). That is not a difference of
  // meaning.
  check.options.flush = true;
  const double largest = largest_of(inputs);
  const bool backward =
      dynamic_cast<const frontend::BackwardReference*>(task.reference.get()) != nullptr;
  // The tolerance is the candidate's: PyTorch may miss it and mean the same.
  const bool tolerates = task.precision.atol || task.precision.rtol;
  std::string missed;
  check.judge = [&](const ports::Truth& truth, const HostTensor& got) {
    metric::CompareOptions compare;
    compare.precision = task.precision;
    compare.precision.flush = true;
    compare.precision.atol = compare.precision.rtol = std::nullopt;
    ports::Truth loose = loosened(truth, largest);
    if (backward && options.edge) forgive_nan(got, &loose);
    std::string reason = metric::compare(loose, got, compare).reason;
    if (!tolerates || !reason.empty() || !missed.empty()) return reason;
    compare.precision.atol = task.precision.atol;
    compare.precision.rtol = task.precision.rtol;
    missed = metric::compare(loose, got, compare).reason;
    return reason;
  };
  torch_worker::CrossChecked checked = KW_TRY(torch_worker::cross_check(check, oracle, torch));
  if (checked.agree()) checked.missed = missed;
  return checked;
}

}  // namespace kw::verification
