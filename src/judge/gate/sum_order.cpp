// The problem: when bits differ between batches, users ask why; the order of a sum is nearly always
// the reason. Reading it from the code would need one analysis per instruction. Instead the sum
// itself is asked: term 0 is +M, term j is -M, all others are small units, and M is so large that
// units added to it are lost. The result counts the units that were added after the two cancelled,
// so n minus that is the size of the smallest partial sum with both terms. One row of the batch
// answers for one j, so one launch probes as many j as there are rows. The alternative, all pairs,
// would give the whole tree for a quadratic cost; the terms that meet term 0 describe the usual
// orders. The cost: one small run.
#include "gate/sum_order.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tensor/convert.h"
#include "tensor/inputs.h"

namespace kw::gate {

namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;
using tensor::DType;
using tensor::HostTensor;

constexpr int64_t kMostPartners = 192, kFewPartners = 24;  // few: where rows need more launches
constexpr int64_t kCalibration = 0;                        // a question with units only

/// The input whose last axis holds the terms, and the number of rows before it.
struct Terms {
  size_t input = 0;
  std::optional<size_t> factor;  // of a product: the input with the other factors
  int64_t count = 0, rows = 0;
};

NodeId through_casts(const Graph& graph, NodeId id) {
  while (graph[id].op == Op::Cast) id = graph[id].inputs[0];
  return id;
}

std::optional<size_t> input_behind(const Graph& graph, NodeId id) {
  while (graph[id].op == Op::Cast || graph[id].op == Op::Permute || graph[id].op == Op::Reshape ||
         graph[id].op == Op::Expand)
    id = graph[id].inputs[0];
  if (graph[id].op != Op::Input) return std::nullopt;
  return static_cast<size_t>(graph[id].attrs.integer);
}

bool sums_last_axis(const Node& node, const Node& operand) {
  const int last = static_cast<int>(operand.shape.size()) - 1;
  return node.op == Op::Sum && node.attrs.dims == std::vector<int>{last};
}

std::optional<Terms> find_terms(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (node.op != Op::Sum && node.op != Op::MatMul) continue;
    const NodeId id = through_casts(graph, node.inputs[0]);
    const Node& operand = graph[id];
    if (operand.op != Op::Input || !tensor::is_float(operand.dtype) || operand.shape.empty())
      return std::nullopt;
    if (node.op == Op::Sum && !sums_last_axis(node, operand)) return std::nullopt;
    Terms terms;
    terms.input = static_cast<size_t>(operand.attrs.integer);
    if (node.op == Op::MatMul) terms.factor = input_behind(graph, node.inputs[1]);
    terms.count = operand.shape.back().value();
    terms.rows = 1;
    for (size_t i = 0; i + 1 < operand.shape.size(); ++i) terms.rows *= operand.shape[i].value();
    return terms.count >= 4 && terms.rows >= 1 ? std::optional(terms) : std::nullopt;
  }
  return std::nullopt;
}

/// Two numbers of a format whose sum is the larger one, even with all units added up.
struct Scale {
  double huge, unit;
};
std::optional<Scale> scale_of(DType type) {
  switch (type) {
    case DType::Fp64:
    case DType::Fp32:
    case DType::Bf16:
      return Scale{0x1p100, 1};
    case DType::Fp16:
      return Scale{0x1p15, 0x1p-22};
    default:
      return std::nullopt;
  }
}

// Terms at equal distances. Powers of two, which are the usual distances in kernels; and the last
// multiple of each.
std::vector<int64_t> partners_of(int64_t terms, int64_t most) {
  std::vector<int64_t> partners = {terms - 1};
  for (int64_t step = 1; step < terms; step *= 2)
    partners.insert(partners.end(), {step, (terms - 1) / step * step});
  const int64_t evenly = std::min(terms - 1, most - static_cast<int64_t>(partners.size()));
  for (int64_t i = 0; i < evenly; ++i) partners.push_back(1 + i * (terms - 1) / evenly);
  std::ranges::sort(partners);
  partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
  return partners;
}

/// Every element of an input as one number; integers are 0.
Result<HostTensor> filled(const Node& node, double value) {
  HostTensor tensor = KW_TRY(tensor::make_tensor(node.dtype, graph::values_of(node.shape)));
  if (!tensor::is_float(node.dtype)) return tensor;
  tensor::store_floats(
      tensor, 0, std::vector<double>(static_cast<size_t>(tensor::value_count(tensor)), value));
  return tensor;
}

/// Asks one question per row: a partner of term 0, or kCalibration. `rest` fills inputs that are
/// not part of the sum.
class SumProbe {
 public:
  SumProbe(const CellRunner& runner, const shapes::ShapeCase& shape, const Terms& terms,
           const Scale& scale, double rest)
      : runner_(runner), shape_(shape), terms_(terms), scale_(scale), rest_(rest) {}

  /// Not set when a run gives no result or the output is not proportional to the sum.
  Result<std::optional<SumOrder>> run() {
    const int64_t most =
        terms_.rows > kFewPartners ? std::min(kMostPartners, terms_.rows - 1) : kFewPartners;
    SumOrder order{terms_.count, partners_of(terms_.count, most), {}};
    std::vector<int64_t> questions = {kCalibration};
    questions.insert(questions.end(), order.partners.begin(), order.partners.end());
    std::vector<double> answers;
    while (answers.size() < questions.size()) {
      const size_t asked =
          std::min(questions.size() - answers.size(), static_cast<size_t>(terms_.rows));
      const auto from = questions.begin() + static_cast<std::ptrdiff_t>(answers.size());
      const bool ok = KW_TRY(ask({from, from + static_cast<std::ptrdiff_t>(asked)}, &answers));
      if (!ok) return std::optional<SumOrder>();
    }
    const double all = answers.front(), n = static_cast<double>(terms_.count);
    if (!std::isfinite(all) || all == 0) return std::optional<SumOrder>();
    for (size_t k = 1; k < answers.size(); ++k) {
      const double after = answers[k] / all * n;
      if (!(after > -0.5) || after > n - 1.5) return std::optional<SumOrder>();
      order.together.push_back(terms_.count - std::lround(after));
    }
    return std::optional(std::move(order));
  }

 private:
  Result<bool> ask(const std::vector<int64_t>& questions, std::vector<double>* answers) const {
    std::vector<HostTensor> inputs;
    for (size_t i = 0; i < shape_.graph.inputs.size(); ++i) {
      const Node& node = shape_.graph[shape_.graph.inputs[i].node];
      const double value = i == terms_.input ? scale_.unit : terms_.factor == i ? 1 : rest_;
      inputs.push_back(KW_TRY(filled(node, value)));
    }
    for (size_t k = 0; k < questions.size(); ++k) {
      if (questions[k] == kCalibration) continue;
      const int64_t row = static_cast<int64_t>(k) * terms_.count;
      tensor::set_element(inputs[terms_.input], row, scale_.huge);
      tensor::set_element(inputs[terms_.input], row + questions[k], -scale_.huge);
    }
    const Judged judged = KW_TRY(runner_.run(shape_, inputs, {}));
    if (judged.result != CellResult::Right) return false;
    const HostTensor& output = judged.outputs.front();
    const int64_t count = tensor::value_count(output);
    if (!tensor::is_float(output.dtype) || count == 0 || count % terms_.rows != 0) return false;
    for (size_t k = 0; k < questions.size(); ++k)
      answers->push_back(
          tensor::get_element(output, static_cast<int64_t>(k) * (count / terms_.rows)));
    return true;
  }

  const CellRunner& runner_;
  const shapes::ShapeCase& shape_;
  const Terms& terms_;
  const Scale& scale_;
  const double rest_;
};

}  // namespace

std::string SumOrder::text() const {
  if (partners.empty()) return "";
  const auto first = std::ranges::min_element(together) - together.begin();
  const int64_t apart = partners[static_cast<size_t>(first)];
  int64_t strand = 1;
  std::set<int64_t> joins;
  for (size_t k = 0; k < partners.size(); ++k) {
    if (partners[k] % apart != 0) continue;
    if (together[k] != partners[k] / apart + 1) break;
    strand = together[k];
  }
  for (const int64_t size : together) {
    if (size > strand) joins.insert(size);
  }
  if (strand == terms) return fmt::format("{} terms, one after another", terms);
  if (std::ranges::max(together) == std::ranges::min(together))
    return fmt::format("{} terms; their order does not show", terms);
  const std::string steps =
      fmt::format("joined in {} step{}", joins.size(), joins.size() == 1 ? "" : "s");
  if (strand == 1) return fmt::format("{} terms, {}", terms, steps);
  return fmt::format("{} terms: partial sums of {}, {} apart, {}", terms, strand, apart, steps);
}

Result<std::optional<SumOrder>> probe_sum_order(const CellRunner& runner,
                                                const shapes::ShapeCase& shape) {
  const std::optional<Terms> terms = find_terms(shape.graph);
  if (!terms) return std::optional<SumOrder>();
  const std::optional<Scale> scale =
      scale_of(shape.graph[shape.graph.inputs[terms->input].node].dtype);
  if (!scale) return std::optional<SumOrder>();
  // An input beside the sum may scale it or be added to it.
  for (const double rest : {1.0, 0.0}) {
    std::optional<SumOrder> order = KW_TRY(SumProbe(runner, shape, *terms, *scale, rest).run());
    if (order || shape.graph.inputs.size() == (terms->factor ? 2 : 1)) return order;
  }
  return std::optional<SumOrder>();
}

}  // namespace kw::gate
