// The printed form is complete: two graphs with the same text compute the same.
#include <fmt/core.h>

#include <array>
#include <cmath>

#include "core/text.h"
#include "graph/graph.h"
#include "graph/infer.h"

namespace kw::graph {

namespace {

std::string number_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return fmt::format("{}", number);
}

std::string ints_text(const std::vector<int>& values) {
  std::vector<std::string> texts;
  for (int value : values) texts.push_back(std::to_string(value));
  return "[" + join(texts, ", ") + "]";
}

std::string steps_text(const std::vector<int64_t>& values) {
  std::vector<std::string> texts;
  for (int64_t value : values) texts.push_back(std::to_string(value));
  return "[" + join(texts, ", ") + "]";
}

const char* scatter_name(ScatterMode mode) {
  constexpr std::array<const char*, 5> kNames = {"set", "add", "multiply", "max", "min"};
  return kNames[static_cast<size_t>(mode)];
}

std::string constant_text(const Node& node) {
  const Attrs& attrs = node.attrs;
  if (!attrs.starts.empty() && !attrs.starts[0].is_constant()) return attrs.starts[0].text();
  if (!attrs.number_text.empty()) return attrs.number_text;
  if (tensor::is_float(node.dtype)) return number_text(attrs.number);
  if (node.dtype == DType::Bool) return attrs.integer != 0 ? "true" : "false";
  return std::to_string(attrs.integer);
}

std::string arguments_text(const Graph& graph, const Node& node) {
  if (node.op == Op::Constant) return constant_text(node);
  if (node.op == Op::Input) {
    const auto which = static_cast<size_t>(node.attrs.integer);
    return which < graph.inputs.size() ? graph.inputs[which].name : "?";
  }
  std::vector<std::string> texts;
  for (NodeId id : node.inputs) texts.push_back(fmt::format("%{}", id));
  return join(texts, ", ");
}

std::string attrs_text(const Node& node) {
  if (node.op == Op::Constant || node.op == Op::Input) return "";
  const Attrs& attrs = node.attrs;
  std::string text;
  if (!attrs.dims.empty()) text += " dims=" + ints_text(attrs.dims);
  if (!attrs.starts.empty()) text += " starts=" + shape_text(attrs.starts);
  if (!attrs.steps.empty()) text += " steps=" + steps_text(attrs.steps);
  if (node.op == Op::Pad) text += " fill=" + number_text(attrs.number);
  if (node.op == Op::Scatter) text += fmt::format(" mode={}", scatter_name(attrs.scatter));
  if (attrs.reverse) text += " reverse";
  if (attrs.exclusive) text += " exclusive";
  if (attrs.descending) text += " descending";
  if (node.op == Op::SortIndices && attrs.integer == 1) text += " stable";
  return text;
}

std::string remark_text(const Node& node) {
  std::vector<std::string> texts;
  if (!node.origin.empty()) texts.push_back(node.origin);
  if (node.line > 0) texts.push_back(fmt::format("line {}", node.line));
  return texts.empty() ? "" : "  # " + join(texts, ", ");
}

}  // namespace

std::string print(const Graph& graph) {
  std::string text;
  for (size_t at = 0; at < graph.nodes.size(); ++at) {
    const Node& node = graph.nodes[at];
    text += fmt::format("%{}: {} = {}({}){}{}\n", at, signature_text(node.dtype, node.shape),
                        op_info(node.op).name, arguments_text(graph, node), attrs_text(node),
                        remark_text(node));
  }
  for (const std::string& guard : graph.guards) text += "guard " + guard + "\n";
  for (const NamedNode& output : graph.outputs) {
    text += fmt::format("return {} = %{}\n", output.name, output.node);
  }
  return text;
}

}  // namespace kw::graph
