#include <algorithm>

#include "profile/sources.h"

namespace kw::profile {
namespace {

using graph::Graph;
using graph::Node;
using graph::Op;
using graph::OpKind;

/// What the values that a node depends on have passed through, the node included.
struct Past {
  bool matmul = false, reduction = false, exponential = false;
  bool exponential_of_matmul = false;
  bool wide_input = false;  // a tensor parameter of two or more dims, not yet multiplied
  bool integer_input = false, fp8_input = false;

  void operator|=(const Past& other) {
    matmul |= other.matmul;
    reduction |= other.reduction;
    exponential |= other.exponential;
    exponential_of_matmul |= other.exponential_of_matmul;
    wide_input |= other.wide_input;
    integer_input |= other.integer_input;
    fp8_input |= other.fp8_input;
  }
};

bool is_exponential(Op op) {
  return op == Op::Exp || op == Op::Exp2 || op == Op::Expm1 || op == Op::Sigmoid || op == Op::Tanh;
}

bool is_fp8(tensor::DType type) {
  return type == tensor::DType::Fp8e4m3 || type == tensor::DType::Fp8e5m2;
}

bool is_narrow_integer(tensor::DType type) {
  return type == tensor::DType::Int8 || type == tensor::DType::Uint8 ||
         type == tensor::DType::Fp4e2m1x2;
}

struct Traits {
  bool matmul = false, attention = false, convolution = false, reduction = false;
  bool exponential = false, elementwise = true, epilogue = false, epilogue_graph = false;
  bool layout_change = false, normalisation = false, quantised = false, fp8 = false;
  bool narrow_inputs = true;
};

class GraphReader {
 public:
  explicit GraphReader(const Graph& graph) : graph_(graph), past_(graph.nodes.size()) {}

  Traits run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) read(i);
    return traits_;
  }

 private:
  void read(size_t index) {
    const Node& node = graph_.nodes[index];
    Past past;
    for (const graph::NodeId input : node.inputs) past |= past_[static_cast<size_t>(input)];
    const OpKind kind = graph::op_info(node.op).kind;
    traits_.convolution |= node.origin.find("conv") != std::string::npos;
    traits_.elementwise &= kind == OpKind::Source || kind == OpKind::Pointwise ||
                           (kind == OpKind::Movement && keeps_elements(node.op));
    if (node.op == Op::Permute) traits_.layout_change |= moves(node);
    if (kind == OpKind::Reduction) past.reduction = traits_.reduction = true;
    if (is_exponential(node.op)) read_exponential(past);
    if (node.op == Op::Sqrt || node.op == Op::Rsqrt) traits_.normalisation |= past.reduction;
    if (node.op == Op::Input) read_input(node, past);
    if (kind == OpKind::Pointwise && node.op != Op::Cast && past.matmul) read_epilogue(past);
    if (node.op == Op::MatMul) read_product(past);
    past_[index] = past;
  }

  static bool keeps_elements(Op op) {
    return op == Op::Reshape || op == Op::Expand || op == Op::Slice || op == Op::Pad ||
           op == Op::Concat;
  }

  static bool moves(const Node& node) {
    for (size_t i = 0; i < node.attrs.dims.size(); ++i) {
      if (node.attrs.dims[i] != static_cast<int>(i)) return true;
    }
    return false;
  }

  void read_exponential(Past& past) {
    past.exponential = traits_.exponential = true;
    past.exponential_of_matmul |= past.matmul;
  }

  void read_input(const Node& node, Past& past) {
    past.wide_input = node.shape.size() >= 2;
    past.integer_input = is_narrow_integer(node.dtype);
    past.fp8_input = is_fp8(node.dtype);
    if (tensor::is_float(node.dtype) && !node.shape.empty())
      traits_.narrow_inputs &= tensor::dtype_size(node.dtype) <= 2;
  }

  void read_epilogue(const Past& past) {
    traits_.epilogue = true;
    traits_.epilogue_graph |= past.wide_input || graph_.outputs.size() > 1;
  }

  // The result of a product has no operand that is not yet multiplied.
  void read_product(Past& past) {
    traits_.matmul = true;
    traits_.attention |= past.exponential_of_matmul && past.reduction;
    traits_.quantised |= past.integer_input;
    traits_.fp8 |= past.fp8_input;
    past = Past{};
    past.matmul = true;
  }

  const Graph& graph_;
  std::vector<Past> past_;
  Traits traits_;
};

}  // namespace

MetricSet metrics_of_graph(const Graph& graph) {
  const Graph needed = graph::simplify(graph);
  const Traits traits = GraphReader(needed).run();
  MetricSet metrics;
  const auto set = [&](const char* id, bool value) {
    metrics.set_flag(id, value, MetricSource::Static, "the reference's graph");
  };
  set("has_matmul", traits.matmul);
  set("has_attention", traits.attention);
  set("has_convolution", traits.convolution);
  set("has_reduction", traits.reduction);
  set("has_exponential", traits.exponential);
  set("is_elementwise", traits.elementwise);
  set("has_epilogue", traits.epilogue);
  set("has_epilogue_graph", traits.epilogue_graph);
  set("has_layout_change", traits.layout_change);
  set("has_normalisation", traits.normalisation);
  set("has_quantised_operand", traits.quantised);
  set("has_fp8_operand", traits.fp8);
  set("narrow_inputs", traits.narrow_inputs);
  return metrics;
}

}  // namespace kw::profile
