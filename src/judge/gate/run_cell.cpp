// The problem: one run can end in many ways, and the gate must distinguish the candidate's errors
// from the machine's. Each run becomes one `CellResult` value; findings count first, then the run's
// status, then the values. Large outputs on a real GPU are first run without copying: if their
// hashes are known as right, the comparison is skipped. The alternative, always copying and
// comparing, costs more than a second run above 4 MiB of outputs. The cost: a candidate with new
// bits runs twice.
#include "gate/run_cell.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "ports/audit_hash.h"

namespace kw::gate {

namespace {

using ports::RunStatus;
using record::FindingKind;

// Smaller outputs are compared in less time than a second run takes.
constexpr uint64_t kWorthAsking = uint64_t{1} << 22;  // bytes

uint64_t output_bytes(const std::vector<ports::Truth>& truths) {
  uint64_t bytes = 0;
  for (const ports::Truth& truth : truths)
    bytes += truth.value.size() * static_cast<uint64_t>(tensor::dtype_size(truth.dtype));
  return bytes;
}

bool is_certain(const record::Finding& finding) {
  return finding.certainty == record::Certainty::Certain;
}

bool is_unsupported(const record::Finding& finding) {
  return finding.kind == FindingKind::UnsupportedInstruction;
}

void sort_findings(const ports::RunOutcome& outcome, Judged* judged) {
  for (const record::Finding& finding : outcome.findings) {
    if (is_unsupported(finding)) {
      judged->result = CellResult::NoEvidence;
      judged->unknown_instruction = true;
      judged->reason = finding.message;
      return;
    }
  }
  for (const record::Finding& finding : outcome.findings) {
    if (!is_certain(finding)) {
      judged->warnings.push_back(finding);
    } else if (!judged->finding) {
      judged->result = CellResult::Found;
      judged->finding = finding;
      judged->reason = finding.message;
    }
  }
}

// Judges a run that did not complete, if it has no certain finding.
void judge_status(const ports::RunOutcome& outcome, bool is_virtual, Judged* judged) {
  const std::string why = fmt::format("{}{}{}", ports::run_status_name(outcome.status),
                                      outcome.message.empty() ? "" : ": ", outcome.message);
  switch (outcome.status) {
    case RunStatus::Completed:
      return;
    case RunStatus::Hung:
      judged->result = is_virtual ? CellResult::NoEvidence : CellResult::Crash;
      judged->reason = is_virtual ? outcome.message : why;
      judged->too_slow = is_virtual;
      return;
    case RunStatus::OutOfMemory:
      judged->result = CellResult::NoEvidence;
      judged->reason = why;
      return;
    case RunStatus::Refused:
      judged->result = CellResult::Refused;
      judged->reason = why;
      return;
    case RunStatus::Stopped:
    case RunStatus::Faulted:
    case RunStatus::WorkerLost:
      judged->result = CellResult::Crash;
      judged->reason = why;
      return;
  }
}

/// Collects the module's outputs in the order of the graph's.
Status collect_outputs(const kernel::Program& program, const shapes::Matching& matching,
                       ports::RunOutcome* outcome, Judged* judged) {
  if (outcome->buffers.size() != program.buffers.size())
    return environment_error("the device returned no outputs");
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const int output = matching.tensors[i].output;
    if (output < 0) continue;
    if (static_cast<size_t>(output) >= judged->outputs.size())
      judged->outputs.resize(static_cast<size_t>(output) + 1);
    tensor::HostTensor& tensor = outcome->buffers[i];
    tensor.dtype = program.buffers[i].dtype;
    tensor.shape = program.buffers[i].shape;
    judged->outputs[static_cast<size_t>(output)] = std::move(tensor);
  }
  return Done{};
}

void judge_outputs(const task::Task& task, const graph::Graph& graph,
                   const std::vector<ports::Truth>& truths, Judged* judged) {
  for (size_t i = 0; i < truths.size(); ++i) {
    metric::CompareOptions options;
    options.precision = task.precision;
    options.moves_only = moves_only(graph, graph.outputs[i].node);
    const metric::Comparison comparison = metric::compare(truths[i], judged->outputs[i], options);
    metric::merge(comparison.summary, &judged->summary);
    judged->telling += comparison.telling;
    judged->lint.insert(judged->lint.end(), comparison.lint.begin(), comparison.lint.end());
    if (comparison.pass || judged->result != CellResult::Right) continue;
    judged->result = CellResult::WrongValue;
    judged->reason = comparison.reason;
    judged->summary.worst = comparison.summary.worst;  // the element that the reason describes
  }
}

}  // namespace

KnownBits::Bits bits_of(const shapes::Matching& matching, const std::vector<uint64_t>& hashes,
                        size_t outputs) {
  if (hashes.size() != matching.tensors.size()) return {};
  KnownBits::Bits bits(outputs, 0);
  for (size_t i = 0; i < hashes.size(); ++i) {
    const int output = matching.tensors[i].output;
    if (output >= 0) bits[static_cast<size_t>(output)] = hashes[i];
  }
  return bits;
}

KnownBits::Bits bits_of(const std::vector<tensor::HostTensor>& outputs, uint64_t hash_seed) {
  KnownBits::Bits bits;
  for (const tensor::HostTensor& output : outputs)
    bits.push_back(ports::audit_hash(output.data, hash_seed));
  return bits;
}

bool moves_only(const graph::Graph& graph, graph::NodeId output) {
  std::vector<bool> needed(graph.nodes.size());
  needed[static_cast<size_t>(output)] = true;
  for (graph::NodeId id = output; id >= 0; --id) {
    if (!needed[static_cast<size_t>(id)]) continue;
    const graph::Node& node = graph[id];
    const graph::OpKind kind = graph::op_info(node.op).kind;
    const bool combines =
        node.op == graph::Op::Fold ||
        (node.op == graph::Op::Scatter && node.attrs.scatter != graph::ScatterMode::Set);
    if ((kind != graph::OpKind::Movement && kind != graph::OpKind::Source) || combines)
      return false;
    for (const graph::NodeId input : node.inputs) needed[static_cast<size_t>(input)] = true;
  }
  return true;
}

Result<Judged> CellRunner::run(const shapes::ShapeCase& shape,
                               const std::vector<tensor::HostTensor>& inputs,
                               const std::vector<ports::Truth>& truths,
                               const std::vector<uint64_t>& hashes, KnownBits* known) const {
  Judged judged;
  Built built = KW_TRY(programs.build(matching, task, shape.graph, shape.dims));
  if (!built.ready) {
    judged.result = built.failed                          ? CellResult::NotCompiled
                    : built.not_loaded.empty()            ? CellResult::NotServed
                    : programs.device().info().is_virtual ? CellResult::NoEvidence
                                                          : CellResult::Refused;
    judged.reason = built.not_loaded.empty() ? built.not_served : built.not_loaded;
    judged.unknown_instruction = judged.result == CellResult::NoEvidence;
    judged.compile_failed = std::move(built.failed);
    return judged;
  }
  const kernel::Program& program = built.ready->program;
  ports::RunOutcome outcome = KW_TRY(programs.device().run(
      built.ready->image, program, program_inputs(program, matching, inputs, hashes), options));
  judged.seconds = outcome.seconds;
  judged.group = built.ready->group;
  judged.image = built.ready->image;
  programs.note_branches(built.ready->image, outcome.branches);
  judged.bits = bits_of(matching, outcome.hashes, shape.graph.outputs.size());
  judged.hashes = std::move(outcome.hashes);
  sort_findings(outcome, &judged);
  if (judged.result == CellResult::Right)
    judge_status(outcome, programs.device().info().is_virtual, &judged);
  if (judged.result != CellResult::Right || !options.copy_outputs) return judged;
  KW_TRY(collect_outputs(program, matching, &outcome, &judged));
  if (truths.empty()) return judged;
  KW_CHECK(judged.outputs.size() == truths.size(), "every output of the graph is matched");
  judge_outputs(task, shape.graph, truths, &judged);
  if (known != nullptr && judged.result == CellResult::Right && !judged.bits.empty())
    known->add(bits_of(judged.outputs, options.hash_seed),
               {judged.summary, judged.telling, judged.lint});
  programs.device().recycle(std::exchange(judged.outputs, {}));
  return judged;
}

// Not set when the bits are new: the caller then copies and compares the outputs.
Result<std::optional<Judged>> CellRunner::run_known(const shapes::ShapeCase& shape,
                                                    const PoolSet& set) const {
  CellRunner there = *this;
  there.options.copy_outputs = false;
  Judged judged = KW_TRY(there.run(shape, set.inputs, {}, set.hashes));
  if (judged.result != CellResult::Right) return std::optional(std::move(judged));
  const std::optional<RightOutputs> right = set.known->find(judged.bits);
  if (!right) return std::optional<Judged>();
  judged.summary = right->summary;
  judged.telling = right->telling;
  judged.lint = right->lint;
  return std::optional(std::move(judged));
}

Result<Judged> CellRunner::run(const shapes::ShapeCase& shape, const PoolSet& set) const {
  const bool ask = !programs.device().info().is_virtual && !set.known->empty() &&
                   output_bytes(set.truths) >= kWorthAsking;
  if (ask) {
    std::optional<Judged> judged = KW_TRY(run_known(shape, set));
    if (judged) return std::move(*judged);
  }
  return run(shape, set.inputs, set.truths, set.hashes, set.known.get());
}

}  // namespace kw::gate
