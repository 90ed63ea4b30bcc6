// The problem: the run's arrays must become what the oracle port defines, without copies of large
// tensors. Values are moved out of the run unless a later output needs the same node. Error and
// jump arrays that are all zero are dropped; without jumps the metric can use its fast loop. Index
// outputs also get the scores that they rank; scores.cpp puts these into the output's order. The
// alternative, copying every output, would double the memory at the end of a run. The cost is one
// pass over each error array to look for zeros.
#include "truth/output.h"

#include <algorithm>
#include <cmath>

#include "ops/op_groups.h"
#include "os/parallel.h"
#include "ports/bound.h"
#include "tensor/convert.h"
#include "truth/scalar.h"

namespace kw::truth {

using ports::Scores;
using ports::Truth;
using tensor::HostTensor;

namespace {

/// Recognises where(any NaN, argmax, index), the form of median.
bool prefers_nan(const Graph& graph, NodeId at) {
  if (graph[at].op != Op::Where) return false;
  const Node &found = graph[graph[at].inputs[0]], &nan = graph[graph[at].inputs[1]];
  return nan.op == Op::ArgMax && found.op == Op::Max && graph[found.inputs[0]].op == Op::IsNan &&
         graph[found.inputs[0]].inputs[0] == nan.inputs[0];
}

ScoreSource score_source(const Graph& graph, NodeId output) {
  ScoreSource source;
  NodeId at = output;
  while (is_view_op(graph[at].op) || graph[at].op == Op::Cast || prefers_nan(graph, at)) {
    if (graph[at].op == Op::Where) {
      source.nan_first = true;
      at = graph[at].inputs[2];
      continue;
    }
    const bool to_float = graph[at].op == Op::Cast && !is_integer(graph[at].dtype);
    if (to_float) return {};
    if (graph[at].op != Op::Cast) source.moves.insert(source.moves.begin(), &graph[at]);
    at = graph[at].inputs[0];
  }
  if (!ops::gives_position(graph[at].op)) return {};
  source.index = at;
  source.node = graph[at].inputs[0];
  return source;
}

}  // namespace

std::vector<ScoreSource> score_sources(const Graph& graph) {
  std::vector<ScoreSource> sources;
  for (const graph::NamedNode& output : graph.outputs)
    sources.push_back(score_source(graph, output.node));
  return sources;
}

namespace {

using Floats = tensor::Large<float>;

bool any_set(const Floats& values, int threads) {
  return os::in_any_block(threads, static_cast<int64_t>(values.size()),
                          [&](int64_t begin, int64_t end) {
                            return std::any_of(values.begin() + begin, values.begin() + end,
                                               [](float v) { return v != 0; });
                          });
}

void drop_zeros(Floats& values, int threads) {
  if (!any_set(values, threads)) values.clear();
}

Floats jumps_of(const Tensor& value, int threads) {
  Floats jump(value.lo.size());
  os::in_blocks(threads, static_cast<int64_t>(jump.size()), [&](int64_t begin, int64_t end) {
    std::transform(value.lo.begin() + begin, value.lo.begin() + end, value.hi.begin() + begin,
                   jump.begin() + begin, [](float lo, float hi) { return std::max(lo, hi); });
  });
  drop_zeros(jump, threads);
  return jump;
}

}  // namespace

Truth to_truth(Tensor value, const std::string& name, const NodeFacts& facts, int threads) {
  Truth truth;
  truth.name = name;
  truth.dtype = value.dtype;
  truth.shape = facts.shape;
  truth.exact = facts.exactness != Exactness::Open;
  truth.jump = jumps_of(value, threads);
  truth.a = std::move(value.a);
  truth.h = std::move(value.h);
  drop_zeros(truth.a, threads);
  drop_zeros(truth.h, threads);
  if (value.tracks.integer) {
    truth.value.resize(value.i.size());
    os::in_blocks(threads, value.count(), [&](int64_t begin, int64_t end) {
      std::transform(value.i.begin() + begin, value.i.begin() + end, truth.value.begin() + begin,
                     [&](int64_t v) { return to_double(v, value.dtype); });
    });
    truth.integers = std::move(value.i);
  } else {
    truth.value = std::move(value.t);
  }
  return truth;
}

namespace {

HostTensor to_host(const Tensor& value, int threads) {
  HostTensor out{value.dtype, value.shape, {}};
  out.data.resize(static_cast<size_t>(value.count() * tensor::dtype_size(value.dtype)));
  os::in_blocks(threads, value.count(), [&](int64_t begin, int64_t end) {
    if (!value.tracks.integer)
      return tensor::store_floats(out, begin, {value.t.begin() + begin, value.t.begin() + end});
    for (int64_t k = begin; k < end; ++k)
      tensor::store_int(out, k, value.i[static_cast<size_t>(k)]);
  });
  return out;
}

// Moves an output out of the run, or copies it if a later output needs it.
Result<Tensor> take(Run& run, const Graph& graph, size_t output) {
  const NodeId node = graph.outputs[output].node;
  const bool again = std::any_of(graph.outputs.begin() + static_cast<std::ptrdiff_t>(output) + 1,
                                 graph.outputs.end(),
                                 [&](const graph::NamedNode& other) { return other.node == node; });
  if (graph[node].op == Op::Input || again) return run.copy(node);
  return std::move(run.value(node));
}

}  // namespace

Result<std::vector<Truth>> collect_truths(Run& run, const Graph& graph,
                                          const std::vector<ScoreSource>& scores) {
  std::vector<std::optional<Scores>> ranked(graph.outputs.size());
  for (size_t k = 0; k < ranked.size(); ++k) {
    if (scores[k].node >= 0) ranked[k] = KW_TRY(make_scores(run, graph, scores[k]));
  }
  std::vector<Truth> truths;
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const NodeFacts& facts = run.facts(graph.outputs[k].node);
    Tensor value = KW_TRY(take(run, graph, k));
    truths.push_back(to_truth(std::move(value), graph.outputs[k].name, facts, run.threads()));
    truths.back().scores = std::move(ranked[k]);
  }
  return truths;
}

Result<std::vector<HostTensor>> collect_declared(Run& run, const Graph& graph) {
  std::vector<HostTensor> out;
  for (size_t k = 0; k < graph.outputs.size(); ++k)
    out.push_back(to_host(KW_TRY(take(run, graph, k)), run.threads()));
  return out;
}

Status widen_by_half(Run& rounded, const Graph& graph, std::vector<Truth>& truths) {
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const Tensor value = KW_TRY(take(rounded, graph, k));
    Truth& truth = truths[k];
    if (value.tracks.integer || truth.exact) continue;
    truth.h.resize(truth.value.size());
    os::in_blocks(rounded.threads(), value.count(), [&](int64_t begin, int64_t end) {
      for (auto at = static_cast<size_t>(begin); at < static_cast<size_t>(end); ++at) {
        if (!std::isfinite(truth.value[at])) continue;
        if (!std::isfinite(value.t[at])) continue;
        // Doubled: a kernel that rounds as declared has this error at every element, and the rms of
        // its z must stay below one half.
        const double moved = 2 * std::fabs(value.t[at] - truth.value[at]);
        truth.h[at] = std::max(truth.h[at], stored_bound(moved));
      }
    });
    drop_zeros(truth.h, rounded.threads());
  }
  return Done{};
}

void share_half_errors(const Truth& truth, Truth& other) {
  if (truth.h.empty() || !tensor::is_float(truth.dtype) || truth.exact) return;
  other.h.resize(other.value.size());
  for (size_t at = 0; at < other.h.size(); ++at) {
    if (!std::isfinite(other.value[at]) || !std::isfinite(truth.h[at])) continue;
    const float most = stored_bound(std::fabs(other.value[at]));
    other.h[at] = std::max(other.h[at], std::min(truth.h[at], most));
  }
}

}  // namespace kw::truth
