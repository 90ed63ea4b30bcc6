// When PyTorch and our graph disagree, the user needs the op that is wrong. The torch process lists
// every call of torch with its place in the source and its result, and our nodes carry the place
// they were written at. The last node of an expression holds its result. So the n-th result at a
// place is compared with the n-th call there, and the first pair that differs is blamed, because
// all before it agreed.
// Matching ops by name would fail where one call becomes several nodes. The cost: a second
// evaluation, only after a difference; steps of autograd have no place, so none of them is blamed.
//
// sort and topk may order equal values in any way, and topk with sorted=False all of them. What
// follows from such a choice differs too, though both read the reference alike. So PyTorch's own
// indices are judged by the values they select, and where they are right our graph is evaluated
// again with them.
#include "torch_worker/torch_cross_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "tensor/convert.h"

namespace kw::torch_worker {
namespace {

std::string type_text(tensor::DType dtype, const std::vector<int64_t>& shape) {
  std::string text = tensor::dtype_name(dtype);
  text += '[';
  for (size_t i = 0; i < shape.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", shape[i]);
  return text + ']';
}

std::string judged(const CrossCheck& check, const ports::Truth& truth,
                   const tensor::HostTensor& got) {
  if (truth.dtype != got.dtype || truth.shape != got.shape) {
    return fmt::format("PyTorch gives {}, kernelwright {}", type_text(got.dtype, got.shape),
                       type_text(truth.dtype, truth.shape));
  }
  return check.judge(truth, got);
}

using Place = std::pair<int, int>;

/// The node that holds the result of each expression: the last of the nodes written at one place as
/// one expression.
std::map<Place, std::vector<graph::NodeId>> results_by_place(const graph::Graph& graph,
                                                             bool columns) {
  std::map<Place, std::vector<graph::NodeId>> results;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const graph::Node& node = graph.nodes[i];
    if (node.line <= 0 || node.op == graph::Op::Input) continue;
    const bool ends = i + 1 == graph.nodes.size() || graph.nodes[i + 1].line != node.line ||
                      graph.nodes[i + 1].column != node.column ||
                      graph.nodes[i + 1].origin != node.origin;
    if (!ends) continue;
    results[{node.line, columns ? node.column : 0}].push_back(static_cast<graph::NodeId>(i));
  }
  return results;
}

bool same_type(const graph::Node& node, const tensor::HostTensor& value) {
  return node.dtype == value.dtype && graph::values_of(node.shape) == value.shape;
}

bool chooses(graph::Op op) { return op == graph::Op::SortIndices || op == graph::Op::TopKIndices; }

/// PyTorch's indices for the nodes that choose among equals, by place and order there.
std::vector<StepPair> choices_of(const graph::Graph& graph, const Json& steps,
                                 const std::vector<TorchTensor>& values) {
  std::map<Place, std::vector<size_t>> made;
  const auto& items = steps.items();
  for (size_t i = 0; i < items.size() && i < values.size(); ++i) {
    if (values[i].tensor.dtype == tensor::DType::Int64)
      made[{items[i]["line"].as_int(), items[i]["column"].as_int()}].push_back(i);
  }
  std::vector<StepPair> pairs;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const graph::Node& node = graph.nodes[i];
    if (!chooses(node.op)) continue;
    std::vector<size_t>& at = made[{node.line, node.column}];
    const auto fits =
        std::ranges::find_if(at, [&](size_t step) { return same_type(node, values[step].tensor); });
    if (fits == at.end()) continue;
    pairs.push_back({*fits, static_cast<graph::NodeId>(i)});
    at.erase(fits);
  }
  return pairs;
}

/// The same indices, the best score first in each line: topk(sorted=False) promises no order.
tensor::HostTensor in_order(const tensor::HostTensor& got, const ports::Scores& scores) {
  tensor::HostTensor sorted = got;
  const auto dim = static_cast<size_t>(scores.dim);
  int64_t inner = 1;
  for (size_t i = dim + 1; i < got.shape.size(); ++i) inner *= got.shape[i];
  const int64_t many = got.shape[dim];
  const auto* from = reinterpret_cast<const int64_t*>(got.data.data());
  auto* to = reinterpret_cast<int64_t*>(sorted.data.data());
  const int64_t count = tensor::value_count(got);
  for (int64_t line = 0; many > 0 && line < count / many; ++line) {
    const int64_t start = line / inner * many * inner + line % inner;
    const int64_t base = line / inner * scores.extent * inner + line % inner;
    std::vector<int64_t> indices;
    for (int64_t j = 0; j < many; ++j) indices.push_back(from[start + j * inner]);
    const bool legal =
        std::ranges::all_of(indices, [&](int64_t one) { return one >= 0 && one < scores.extent; });
    if (!legal) return got;
    std::ranges::stable_sort(indices, [&](int64_t a, int64_t b) {
      const double x = scores.value[static_cast<size_t>(base + a * inner)];
      const double y = scores.value[static_cast<size_t>(base + b * inner)];
      if (std::isnan(x) != std::isnan(y)) return std::isnan(x) == scores.largest;
      return scores.largest ? x > y : x < y;
    });
    for (int64_t j = 0; j < many; ++j) to[start + j * inner] = indices[static_cast<size_t>(j)];
  }
  return sorted;
}

/// Our graph and inputs with PyTorch's choices where they are right; not set when there is none.
struct Replayed {
  graph::Graph graph;
  std::vector<tensor::HostTensor> inputs;
};
Result<std::optional<Replayed>> with_choices(const CrossCheck& check, ports::Oracle& oracle,
                                             TorchProcess& torch) {
  const bool any = std::ranges::any_of(check.graph->nodes,
                                       [](const graph::Node& node) { return chooses(node.op); });
  if (!any || !check.call.gradients.of.empty()) return std::optional<Replayed>();
  const TorchAnswer traced = torch.ask("trace", check.call, Json::object(), check.timeout_seconds);
  if (!traced.ok()) return std::optional<Replayed>();
  Replayed replayed{*check.graph, *check.inputs};
  bool replaced = false;
  for (const StepPair& pair : choices_of(*check.graph, traced.body["steps"], traced.outputs)) {
    graph::Graph probe = replayed.graph;
    probe.outputs = {{"choice", pair.node}};
    const auto truths = KW_TRY(oracle.truth(probe, replayed.inputs, check.options));
    const tensor::HostTensor& got = traced.outputs[pair.step].tensor;
    if (truths.empty() || !truths[0].scores) continue;
    const bool ordered = check.judge(truths[0], got).empty();
    const bool is_set = probe[pair.node].op == graph::Op::TopKIndices;
    if (!ordered && !(is_set && check.judge(truths[0], in_order(got, *truths[0].scores)).empty()))
      continue;
    graph::Node& node = replayed.graph.nodes[static_cast<size_t>(pair.node)];
    node.op = graph::Op::Input;
    node.inputs.clear();
    node.attrs = {};
    node.attrs.integer = static_cast<int64_t>(replayed.inputs.size());
    replayed.graph.inputs.push_back({fmt::format("choice_{}", pair.node), pair.node});
    replayed.inputs.push_back(got);
    replaced = true;
  }
  return replaced ? std::optional(std::move(replayed)) : std::optional<Replayed>();
}

/// Finds the first pair of steps that differs. Leaves the mismatches unchanged when no pair does.
Status blame(const CrossCheck& check, ports::Oracle& oracle, TorchProcess& torch,
             std::vector<Mismatch>* mismatches) {
  // The steps of autograd have no place in the reference.
  if (!check.call.gradients.of.empty()) return Done{};
  const TorchAnswer traced = torch.ask("trace", check.call, Json::object(), check.timeout_seconds);
  if (!traced.ok()) return Done{};
  const Json& steps = traced.body["steps"];
  const std::vector<StepPair> pairs = pair_steps(*check.graph, steps, traced.outputs);
  if (pairs.empty()) return Done{};
  graph::Graph probe = *check.graph;
  probe.outputs.clear();
  for (const StepPair& pair : pairs)
    probe.outputs.push_back({fmt::format("%{}", pair.node), pair.node});
  const auto truths = KW_TRY(oracle.truth(probe, *check.inputs, check.options));
  for (size_t i = 0; i < pairs.size() && i < truths.size(); ++i) {
    const std::string why = judged(check, truths[i], traced.outputs[pairs[i].step].tensor);
    if (why.empty()) continue;
    const graph::Node& node = (*check.graph)[pairs[i].node];
    for (Mismatch& mismatch : *mismatches) {
      mismatch.line = node.line;
      mismatch.column = node.column;
      mismatch.ours = node.origin;
      mismatch.torchs = steps.items()[pairs[i].step]["full"].as_string();
      mismatch.step_why = why;
    }
    break;
  }
  return Done{};
}

}  // namespace

std::vector<StepPair> pair_steps(const graph::Graph& graph, const Json& steps,
                                 const std::vector<TorchTensor>& values) {
  const auto& items = steps.items();
  if (items.size() != values.size()) return {};
  const bool columns =
      std::ranges::any_of(items, [](const Json& step) { return step["column"].as_int() > 0; });
  std::map<Place, std::vector<size_t>> steps_by_place;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto line = static_cast<int>(items[i]["line"].as_int());
    const auto column = static_cast<int>(items[i]["column"].as_int());
    if (line > 0) steps_by_place[{line, columns ? column : 0}].push_back(i);
  }
  const auto results = results_by_place(graph, columns);
  std::vector<StepPair> pairs;
  for (const auto& [place, at] : steps_by_place) {
    const auto found = results.find(place);
    if (found == results.end()) continue;
    const bool one_to_one = found->second.size() == at.size();
    auto next = found->second.begin();
    for (size_t step : at) {
      // If the counts differ, take the next result with the same dtype and shape.
      while (!one_to_one && next != found->second.end() &&
             !same_type(graph[*next], values[step].tensor)) {
        ++next;
      }
      if (next == found->second.end()) break;
      if (same_type(graph[*next], values[step].tensor)) pairs.push_back({step, *next});
      ++next;
    }
  }
  std::ranges::sort(pairs, [](const StepPair& a, const StepPair& b) { return a.step < b.step; });
  return pairs;
}

namespace {

std::vector<Mismatch> mismatches_of(const CrossCheck& check,
                                    const std::vector<ports::Truth>& truths,
                                    const TorchAnswer& answer) {
  std::vector<Mismatch> mismatches;
  for (size_t i = 0; i < truths.size(); ++i) {
    const std::string why = judged(check, truths[i], answer.outputs[i].tensor);
    if (why.empty()) continue;
    Mismatch mismatch;
    mismatch.output = truths[i].name;
    mismatch.why = why;
    mismatches.push_back(mismatch);
  }
  return mismatches;
}

}  // namespace

Result<CrossChecked> cross_check(const CrossCheck& check, ports::Oracle& oracle,
                                 TorchProcess& torch) {
  CrossChecked result;
  TorchAnswer answer = torch.run(check.call, check.timeout_seconds);
  result.outcome = answer.outcome;
  if (!answer.ok()) return result;
  const auto truths = KW_TRY(oracle.truth(*check.graph, *check.inputs, check.options));
  if (truths.size() != answer.outputs.size()) {
    Mismatch mismatch;
    mismatch.why = fmt::format("PyTorch gives {} outputs, kernelwright {}", answer.outputs.size(),
                               truths.size());
    result.mismatches.push_back(mismatch);
    return result;
  }
  result.mismatches = mismatches_of(check, truths, answer);
  if (result.agree()) return result;
  if (const auto replayed = KW_TRY(with_choices(check, oracle, torch))) {
    const auto again = KW_TRY(oracle.truth(replayed->graph, replayed->inputs, check.options));
    result.mismatches = mismatches_of(check, again, answer);
    if (result.agree()) return result;
    CrossCheck other = check;
    other.graph = &replayed->graph;
    other.inputs = &replayed->inputs;
    KW_TRY(blame(other, oracle, torch, &result.mismatches));
    return result;
  }
  KW_TRY(blame(check, oracle, torch, &result.mismatches));
  return result;
}

std::string mismatch_text(const Mismatch& mismatch) {
  std::string text =
      mismatch.output.empty() ? mismatch.why : fmt::format("{}: {}", mismatch.output, mismatch.why);
  if (mismatch.line == 0) return text;
  return text + fmt::format("; they differ first at line {}, column {}: {} ({}): {}", mismatch.line,
                            mismatch.column, mismatch.ours, mismatch.torchs, mismatch.step_why);
}

}  // namespace kw::torch_worker
