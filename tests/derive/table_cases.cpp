#include "table_cases.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/text.h"
#include "tracing.h"

namespace kw::derive {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The same table with one dtype per line.
std::string with_dtype(const std::string& text, const std::string& dtype) {
  std::string result;
  for (const std::string_view line : split_lines(text)) {
    const size_t first = line.find('|');
    const size_t second = first == line.npos ? line.npos : line.find('|', first + 1);
    if (second == line.npos || line.starts_with("#")) continue;
    const std::string_view dtypes = trim(line.substr(first + 1, second - first - 1));
    result += std::string(line.substr(0, first + 1)) + " " +
              (dtypes == "-" ? std::string("-") : dtype) + " " + std::string(line.substr(second)) +
              "\n";
  }
  return result;
}

}  // namespace

std::vector<std::string> table_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(KW_OPS_DIR) / "tables"))
    names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<ops::Case> cases_of(const std::string& table, const std::string& dtype) {
  const std::string text = text_of(fs::path(KW_OPS_DIR) / "tables" / (table + ".txt"));
  std::vector<ops::Case> cases =
      must(ops::parse_table(dtype.empty() ? text : with_dtype(text, dtype)));
  std::erase_if(cases, [](const ops::Case& one) { return one.refused; });
  return cases;
}

void for_graphs(const std::vector<ops::Case>& cases,
                const std::function<void(const ops::Case&, const graph::Graph&)>& with) {
  const ops::Tracing tracing = must(ops::Tracing::parse(cases));
  for (size_t i = 0; i < cases.size(); ++i) {
    const Result<graph::Graph> graph = tracing.trace(cases[i], i);
    if (graph) with(cases[i], *graph);
  }
}

std::vector<tensor::HostTensor> inputs_for(const ops::Case& one, const graph::Graph& backward) {
  std::vector<tensor::HostTensor> inputs;
  for (const graph::NamedNode& input : backward.inputs) {
    const auto own = std::find_if(one.inputs.begin(), one.inputs.end(),
                                  [&](const auto& spec) { return spec.name == input.name; });
    const graph::Node& node = backward[input.node];
    const ops::InputSpec drawn{input.name, "normal", node.dtype, graph::values_of(node.shape)};
    inputs.push_back(must(ops::make_input(one, own == one.inputs.end() ? drawn : *own)));
  }
  return inputs;
}

}  // namespace kw::derive
