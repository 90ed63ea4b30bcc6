// The problem: a truth may need more memory than the machine has. The run computes whole nodes in
// order and frees each one after its last reader. Every allocation is counted against a limit
// before it is made; the Error lists the nodes held at that time. The alternative, waiting for
// std::bad_alloc, may end the process on systems that overcommit memory. The cost: the count leaves
// out jumps and the workers' buffers, so the limit is approximate.
#include "truth/graph_pass.h"

#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <thread>

#include "os/parallel.h"
#include "tensor/npy.h"
#include "truth/matmul.h"
#include "truth/moves.h"
#include "truth/rows.h"

namespace kw::truth {

namespace {

constexpr int64_t kWorthThreads = 1 << 15;  // the least number of elements for several threads

std::string node_text(const Node& node, NodeId id, const Extents& shape) {
  const std::string from = node.origin.empty() ? graph::op_info(node.op).name : node.origin;
  return fmt::format("%{} ({}, {}{})", id, from, tensor::dtype_name(node.dtype),
                     tensor::shape_text(shape));
}

}  // namespace

Run::Run(const graph::Graph& graph, const std::vector<tensor::HostTensor>& inputs,
         const ports::TruthOptions& options, Mode mode, const OverflowCase* overflow)
    : graph_(graph),
      inputs_(inputs),
      options_(options),
      mode_(mode),
      threads_(thread_count(options)),
      facts_(gather_facts(graph, mode, options.allow_tf32)),
      plan_(make_plan(graph, facts_)),
      values_(graph.nodes.size()),
      held_(graph.nodes.size(), 0),
      findings_(graph.nodes.size()),
      overflow_(overflow) {}

int thread_count(const ports::TruthOptions& options) {
  if (options.threads > 0) return options.threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Sources Run::sources() {
  return {graph_, facts_, plan_, inputs_, values_, mode_, options_.flush, findings_, overflow_};
}

Workers Run::workers_for(int64_t elements) const {
  return {elements < kWorthThreads ? 1 : threads_, options_.allow_tf32, options_.serial};
}

void Run::keep(NodeId node) {
  const auto id = static_cast<size_t>(node);
  if (graph_[node].op == Op::Input) return;
  plan_.whole[id] = true;
  plan_.last_reader[id] = static_cast<int>(graph_.nodes.size());
}

Status Run::check_inputs() const {
  if (inputs_.size() != graph_.inputs.size()) {
    return input_error("the graph has {} inputs, {} were given", graph_.inputs.size(),
                       inputs_.size());
  }
  for (size_t k = 0; k < inputs_.size(); ++k) {
    const Node& node = graph_[graph_.inputs[k].node];
    const Extents want = graph::values_of(node.shape);
    if (inputs_[k].dtype != node.dtype || inputs_[k].shape != want) {
      return input_error("input '{}' is {}{}, the graph has {}{}", graph_.inputs[k].name,
                         tensor::dtype_name(inputs_[k].dtype), tensor::shape_text(inputs_[k].shape),
                         tensor::dtype_name(node.dtype), tensor::shape_text(want));
    }
    const bool packed = node.dtype == DType::Fp4e2m1x2;
    if (packed && facts_[static_cast<size_t>(graph_.inputs[k].node)].needed) {
      return input_error("input '{}': values of packed type {} cannot be computed with",
                         graph_.inputs[k].name, tensor::dtype_name(node.dtype));
    }
  }
  return Done{};
}

Status Run::compute() {
  KW_TRY(check_inputs());
  try {
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      if (!facts_[id].needed || !plan_.whole[id]) continue;
      KW_TRY(compute_node(static_cast<NodeId>(id)));
      release_after(static_cast<NodeId>(id));
    }
  } catch (const std::bad_alloc&) {
    return environment_error("out of memory while computing the truth ({} bytes held)",
                             held_bytes_);
  }
  return Done{};
}

Status Run::reserve(NodeId node, uint64_t bytes) {
  if (bytes <= options_.max_bytes && held_bytes_ <= options_.max_bytes - bytes) {
    held_[static_cast<size_t>(node)] += bytes;
    held_bytes_ += bytes;
    return Done{};
  }
  std::string held;
  for (size_t id = 0; id < held_.size(); ++id) {
    if (held_[id] == 0 || static_cast<NodeId>(id) == node) continue;
    held += fmt::format(", {} of {} bytes",
                        node_text(graph_.nodes[id], static_cast<NodeId>(id), facts_[id].shape),
                        held_[id]);
  }
  return input_error("the truth of {} needs {} bytes; {} are allowed{}{}",
                     node_text(graph_[node], node, facts_[static_cast<size_t>(node)].shape), bytes,
                     options_.max_bytes, held.empty() ? "" : " and these are held:",
                     held.empty() ? "" : held.substr(1));
}

Status Run::compute_node(NodeId node) {
  const auto id = static_cast<size_t>(node);
  const NodeFacts& facts = facts_[id];
  KW_TRY(reserve(node, bytes_of(count_of(facts.shape), facts.tracks)));
  values_[id] = make_values(graph_[node].dtype, facts.shape, facts.tracks);
  auto filled = fill(node, values_[id]);
  if (!filled) return std::move(filled).error().context(node_text(graph_[node], node, facts.shape));
  if (findings_.divides_by_zero) {
    return input_error("{}: integer division by zero", node_text(graph_[node], node, facts.shape));
  }
  return Done{};
}

Status Run::fill(NodeId node, Tensor& out) {
  const Node& n = graph_[node];
  const Sources from = sources();
  int64_t elements = count_of(facts_[static_cast<size_t>(node)].shape);
  for (const NodeId in : n.inputs)
    elements = std::max(elements, count_of(facts_[static_cast<size_t>(in)].shape));
  if (n.op == Op::MatMul) elements *= 16;  // every element is used many times
  const Workers workers = workers_for(elements);
  switch (n.op) {
    case Op::Sum:
    case Op::Prod:
    case Op::Max:
    case Op::Min:
      reduce(from, node, workers, out);
      return Done{};
    case Op::MatMul:
      matmul(from, node, workers, out);
      return Done{};
    case Op::Pad:
      pad(from, node, workers, out);
      return Done{};
    case Op::Concat:
      concat(from, node, workers, out);
      return Done{};
    case Op::Fold:
      overlap_add(from, node, workers, out);
      return Done{};
    case Op::Philox:
      philox(from, node, workers, out);
      return Done{};
    case Op::Gather:
      return gather(from, node, workers, out);
    case Op::IndexSelect:
      return index_select(from, node, workers, out);
    case Op::Scatter:
      return scatter(from, node, workers, out);
    default:
      break;
  }
  switch (graph::op_info(n.op).kind) {
    case OpKind::Reduction:
    case OpKind::Scan:
    case OpKind::Selection:
      walk_rows(from, node, workers, out);
      return Done{};
    default:
      copy_into(node, true, out);
      return Done{};
  }
}

void Run::copy_into(NodeId node, bool fresh, Tensor& out) {
  const TruthProgram program = make_program(sources(), node, {}, fresh);
  copy_program(program, coalesced(dense_view(out.shape)), workers_for(program.count).threads, out);
}

void copy_program(const TruthProgram& program, const View& place, int threads, Tensor& out) {
  constexpr int64_t kChunksPerUnit = 32;
  const int64_t unit_size = kChunk * kChunksPerUnit;
  std::vector<TruthRunner> evaluators;
  for (int w = 0; w < threads; ++w) evaluators.emplace_back(program);
  const int64_t units = (program.count + unit_size - 1) / unit_size;
  os::parallel_for(threads, units, [&](int worker, int64_t unit) {
    const int64_t end = std::min(program.count, (unit + 1) * unit_size);
    for (int64_t at = unit * unit_size; at < end; at += kChunk) {
      const int count = static_cast<int>(std::min<int64_t>(kChunk, end - at));
      store(evaluators[static_cast<size_t>(worker)].at(at, count), program.tracks, at, count, place,
            out);
    }
  });
}

Result<Tensor> Run::copy(NodeId node) {
  const auto id = static_cast<size_t>(node);
  const NodeFacts& facts = facts_[id];
  KW_TRY(reserve(node, bytes_of(count_of(facts.shape), facts.tracks)));
  Tensor out = make_values(graph_[node].dtype, facts.shape, facts.tracks);
  copy_into(node, false, out);
  return out;
}

void Run::release_after(NodeId node) {
  for (const int in : plan_.reads[static_cast<size_t>(node)]) {
    const auto id = static_cast<size_t>(in);
    if (plan_.last_reader[id] != node) continue;
    values_[id] = Tensor{};
    held_bytes_ -= held_[id];
    held_[id] = 0;
  }
}

}  // namespace kw::truth
