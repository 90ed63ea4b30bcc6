// A candidate may be right at small shapes and wrong at the timed one. So it is compiled, run and
// judged there too, with two or more sets of ordinary values. The hashes of the judged outputs let
// the clock audit timed calls without copying tensors. If a run gives bits that an earlier
// candidate was judged right for, the comparison is skipped. Comparing each time was the
// alternative; it is slow for large tensors. A kernel whose bits change from run to run has no
// expected hashes, so its calls are judged instead.
#include "timing/timed_shape.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/contains.h"
#include "gate/programs.h"
#include "gate/run_cell.h"
#include "graph/cost.h"
#include "graph/movement.h"
#include "kernel/caller_buffers.h"
#include "kernel/instantiate.h"
#include "machine/best_image.h"
#include "metric/metric.h"
#include "single_run/run_module.h"

namespace kw::timing {
namespace {

using ports::RunStatus;

// Values that kernels meet in practice. Denormal, equal or sorted values can take other paths and
// times.
constexpr std::array kOrdinary = {"normal", "uniform", "heavy", "spikes", "offset"};

bool is_ordinary(const std::string& family) { return contains(kOrdinary, family); }

/// The dtype that a product may read: below data movement and casts that lose nothing.
tensor::DType read_by_product(const graph::Graph& graph, graph::NodeId id) {
  for (;;) {
    const graph::Node& node = graph[id];
    if (node.inputs.empty()) return node.dtype;
    const tensor::DType below = graph[node.inputs[0]].dtype;
    const bool widens = node.op == graph::Op::Cast && tensor::is_float(below) &&
                        tensor::dtype_size(below) < tensor::dtype_size(node.dtype);
    if (!widens && !graph::only_moves(node.op)) return node.dtype;
    id = node.inputs[0];
  }
}

/// The precision of products: the narrowest one, because a floor must not be too high.
std::string product_precision(const task::Task& task, const graph::Graph& graph) {
  std::optional<tensor::DType> type;
  for (const graph::Node& node : graph.nodes) {
    if (node.op != graph::Op::MatMul) continue;
    const tensor::DType left = read_by_product(graph, node.inputs[0]);
    const tensor::DType right = read_by_product(graph, node.inputs[1]);
    const tensor::DType wider = tensor::dtype_size(left) < tensor::dtype_size(right) ? right : left;
    if (!type || tensor::dtype_size(wider) < tensor::dtype_size(*type)) type = wider;
  }
  if (!type || *type == tensor::DType::Fp32) return task.precision.allow_tf32 ? "tf32" : "fp32";
  const std::string name = tensor::dtype_name(*type);
  return name.starts_with("fp8") ? "fp8" : name;
}

record::Verdict crashed(const ports::RunOutcome& outcome, const std::string& repro) {
  return record::Crashed{fmt::format("{}: {} (at the timed shape)",
                                     ports::run_status_name(outcome.status), outcome.message),
                         std::nullopt, repro};
}

std::optional<record::Verdict> findings_verdict(const ports::RunOutcome& outcome,
                                                const std::string& repro) {
  for (const record::Finding& finding : outcome.findings) {
    if (finding.certainty != record::Certainty::Certain) continue;
    return record::Rejected{record::Stage::Hygiene, finding.message + " (at the timed shape)",
                            finding, repro};
  }
  return std::nullopt;
}

/// Compiles and instantiates. On failure `refused` says why.
Status compile_candidate(const kernel::Module& module, const TimedShape& shape,
                         ports::Compiler& compiler, const ports::DeviceInfo& device,
                         const PrepareOptions& options, TimedCandidate& candidate) {
  const auto reject = [&](record::Stage stage, std::string reason) {
    candidate.refused = record::Rejected{stage, std::move(reason), std::nullopt, options.repro};
    return Status(Done{});
  };
  Result<shapes::Matching> matching = shapes::match_tensors(module, *shape.task, shape.shape.graph);
  if (!matching) return reject(record::Stage::Static, matching.error().message);
  candidate.matching = std::move(matching).value();
  const auto bindings = shapes::bind_shape(module, candidate.matching, *shape.task,
                                           shape.shape.graph, shape.shape.dims, options.fixed);
  if (!bindings) return reject(record::Stage::Static, bindings.error().message);
  const auto selection = kernel::select(module, *bindings);
  if (!selection) return reject(record::Stage::Static, selection.error().message);
  ports::CompileRequest request;
  request.source = module.text;
  request.file_name = module.file_name;
  request.target = options.fixed.target.name;
  request.defines = selection->defines;
  request.kernels = selection->kernels;
  request.timeout_seconds = options.timeout_seconds;
  request.apart = true;
  machine::BestImage image(compiler, device.image);
  ports::CompileOutcome compiled = KW_TRY(image.compile(request));
  if (!compiled.compiled)
    return reject(record::Stage::Compile, "it does not compile for the timed shape");
  candidate.compiled = std::move(*compiled.compiled);
  candidate.compile_seconds = candidate.compiled.seconds;
  auto program = kernel::instantiate(module, *bindings, *selection,
                                     single_run::kernel_infos(candidate.compiled));
  if (!program) return reject(record::Stage::Static, program.error().message);
  candidate.program = std::move(program).value();
  return Done{};
}

/// Hashes of the returned buffers in their order; empty when the device gave none.
std::vector<uint64_t> returned_hashes(const kernel::Program& program,
                                      const ports::RunOutcome& outcome) {
  std::vector<uint64_t> hashes;
  if (outcome.hashes.size() != program.buffers.size()) return hashes;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    if (is_returned(program.buffers[i])) hashes.push_back(outcome.hashes[i]);
  }
  return hashes;
}

/// Hashes of the returned buffers in the order of the graph's outputs.
gate::KnownBits::Bits bits_of(const TimedCandidate& candidate,
                              const std::vector<uint64_t>& returned, size_t outputs) {
  std::vector<uint64_t> hashes(candidate.program.buffers.size(), 0);
  size_t next = 0;
  for (size_t i = 0; i < hashes.size(); ++i) {
    if (is_returned(candidate.program.buffers[i])) hashes[i] = returned.at(next++);
  }
  return gate::bits_of(candidate.matching, hashes, outputs);
}

/// Whether the first set gives the same bits again.
Status run_again(ports::Device& device, ports::RunOptions run, const std::vector<uint64_t>& hashes,
                 TimedCandidate& candidate) {
  run.copy_outputs = false;
  const ports::RunOutcome again =
      KW_TRY(device.run(candidate.image, candidate.program, candidate.inputs[0], run));
  candidate.audit.deterministic = again.status == RunStatus::Completed && again.hashes == hashes;
  return Done{};
}

/// Whether a run gives bits that were judged right before. If so, stores their hashes.
Result<bool> gives_right_bits(const TimedShape& shape, ports::Device& device,
                              const PrepareOptions& options, size_t set,
                              TimedCandidate& candidate) {
  gate::KnownBits& known = *shape.sets[set]->known;
  if (known.empty()) return false;
  ports::RunOptions run;
  run.timeout_seconds = options.timeout_seconds;
  run.hash_seed = shape.hash_seed;
  run.copy_outputs = false;
  const ports::RunOutcome outcome =
      KW_TRY(device.run(candidate.image, candidate.program, candidate.inputs[set], run));
  if (outcome.status != RunStatus::Completed || findings_verdict(outcome, "")) return false;
  const auto bits =
      gate::bits_of(candidate.matching, outcome.hashes, shape.shape.graph.outputs.size());
  if (bits.empty() || !known.find(bits)) return false;
  candidate.audit.expected.push_back(returned_hashes(candidate.program, outcome));
  if (set == 0) KW_TRY(run_again(device, run, outcome.hashes, candidate));
  return true;
}

/// Runs and judges one set, and stores the hashes.
Status verify_set(const TimedShape& shape, ports::Device& device, const PrepareOptions& options,
                  size_t set, TimedCandidate& candidate) {
  ports::RunOptions run;
  run.timeout_seconds = options.timeout_seconds;
  run.hash_seed = shape.hash_seed;
  const ports::InputViews& inputs = candidate.inputs[set];
  const ports::RunOutcome outcome =
      KW_TRY(device.run(candidate.image, candidate.program, inputs, run));
  candidate.refused = findings_verdict(outcome, options.repro);
  if (candidate.refused) return Done{};
  if (outcome.status != RunStatus::Completed) {
    candidate.refused = crashed(outcome, options.repro);
    return Done{};
  }
  gate::RightOutputs right;
  if (auto wrong = judge_outputs(shape, candidate, set, outcome.buffers, &right)) {
    wrong->repro = options.repro;
    candidate.refused = std::move(*wrong);
    return Done{};
  }
  candidate.audit.expected.push_back(
      clock::expected_hashes(candidate.program, outcome.buffers, shape.hash_seed));
  const auto bits =
      bits_of(candidate, candidate.audit.expected.back(), shape.shape.graph.outputs.size());
  shape.sets[set]->known->add(bits, std::move(right));
  return set > 0 ? Status(Done{}) : run_again(device, run, outcome.hashes, candidate);
}

}  // namespace

clock::Work work_at(const task::Task& task, const graph::Graph& graph) {
  const graph::Cost cost = graph::cost_of(graph);
  return clock::Work{.read_bytes = cost.read_bytes,
                     .write_bytes = cost.write_bytes,
                     .gathered_bytes = cost.gathered_bytes,
                     .flops = cost.flops,
                     .tensor_flops = cost.tensor_flops,
                     .product = product_precision(task, graph)};
}

Result<TimedShape> timed_shape(gate::Pool& pool, const task::Task& task, const task::Dims& dims,
                               int sets, const gate::Entropy& entropy) {
  const shapes::ShapePlan& plan = pool.shapes();
  const auto at = std::find_if(plan.cases.begin(), plan.cases.end(),
                               [&](const shapes::ShapeCase& shape) { return shape.dims == dims; });
  if (at == plan.cases.end()) {
    return input_error("the reference cannot be judged at " + task::dims_text(dims));
  }
  const auto index = static_cast<size_t>(at - plan.cases.begin());
  TimedShape shape;
  shape.task = &task;
  shape.shape = *at;
  shape.work = work_at(task, at->graph);
  shape.hash_seed = pool.hash_seed();
  for (size_t cell = 0; cell < pool.cells().size(); ++cell) {
    const gate::PoolCell& row = pool.cells()[cell];
    if (row.shape != index || !is_ordinary(row.family)) continue;
    if (static_cast<int>(shape.sets.size()) < sets) shape.sets.push_back(KW_TRY(pool.set(cell)));
  }
  // At least two sets, so that contents change between calls.
  while (static_cast<int>(shape.sets.size()) < std::min(sets, 2)) {
    const uint64_t seed = KW_TRY(entropy());
    shape.sets.push_back(KW_TRY(pool.make_set(index, "normal", seed)));
  }
  return shape;
}

std::optional<record::Wrong> judge_outputs(const TimedShape& shape, const TimedCandidate& candidate,
                                           size_t set,
                                           const std::vector<tensor::HostTensor>& outputs,
                                           gate::RightOutputs* right) {
  const std::vector<ports::Truth>& truths = shape.sets[set]->truths;
  for (size_t i = 0; i < candidate.program.buffers.size(); ++i) {
    const int output = candidate.matching.tensors[i].output;
    if (output < 0) continue;
    const auto which = static_cast<size_t>(output);
    metric::CompareOptions options;
    options.precision = shape.task->precision;
    options.moves_only = gate::moves_only(shape.shape.graph, shape.shape.graph.outputs[which].node);
    metric::Comparison comparison = metric::compare(truths[which], outputs[i], options);
    if (right != nullptr) {
      metric::merge(comparison.summary, &right->summary);
      right->telling += comparison.telling;
      right->lint.insert(right->lint.end(), comparison.lint.begin(), comparison.lint.end());
    }
    if (comparison.pass) continue;
    record::Wrong wrong;
    wrong.summary = std::move(comparison.summary);
    wrong.reason = comparison.reason + " (at the timed shape)";
    return wrong;
  }
  return std::nullopt;
}

Result<std::unique_ptr<TimedCandidate>> prepare_candidate(const kernel::Module& module,
                                                          const TimedShape& shape,
                                                          ports::Compiler& compiler,
                                                          ports::Device& device,
                                                          const PrepareOptions& options) {
  auto candidate = std::make_unique<TimedCandidate>();
  candidate->name = module.file_name;
  KW_TRY(compile_candidate(module, shape, compiler, device.info(), options, *candidate));
  if (candidate->refused) return candidate;
  const Result<ports::ImageId> image = device.load(candidate->compiled);
  if (!image && image.error().blame != Blame::Input) return image.error();
  if (!image) {
    candidate->refused =
        record::Rejected{record::Stage::Static, image.error().message, std::nullopt, options.repro};
    return candidate;
  }
  candidate->image = *image;
  for (const gate::SetPtr& set : shape.sets) {
    candidate->inputs.push_back(
        gate::program_inputs(candidate->program, candidate->matching, set->inputs, set->hashes));
  }
  for (size_t set = 0; set < shape.sets.size() && !candidate->refused; ++set) {
    const bool known = KW_TRY(gives_right_bits(shape, device, options, set, *candidate));
    if (!known) KW_TRY(verify_set(shape, device, options, set, *candidate));
  }
  if (!candidate->audit.deterministic) candidate->audit.expected.clear();
  return candidate;
}

}  // namespace kw::timing
