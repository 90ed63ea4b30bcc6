#include "table.h"

#include <fmt/core.h>

#include "core/text.h"
#include "families.h"

namespace kw::ops {
namespace {

using tensor::DType;

Result<std::vector<int64_t>> parse_shape(std::string_view text) {
  std::vector<int64_t> shape;
  for (const std::string& piece : split(text, ',')) {
    if (trim(piece).empty()) continue;
    const auto extent = parse_int(trim(piece));
    if (!extent) return input_error(fmt::format("'{}' is not an extent", piece));
    shape.push_back(*extent);
  }
  return shape;
}

// "x: T[4,33] normal"
Result<InputSpec> parse_input(std::string_view text, std::string_view dtype) {
  const size_t colon = text.find(':'), open = text.find('['), close = text.find(']');
  if (colon == std::string_view::npos || open == std::string_view::npos ||
      close == std::string_view::npos) {
    return input_error(fmt::format("input '{}' is not like 'x: fp32[4,33] normal'", text));
  }
  InputSpec spec;
  spec.name = trim(text.substr(0, colon));
  std::string_view type = trim(text.substr(colon + 1, open - colon - 1));
  const auto found = tensor::dtype_from_name(type == "T" ? dtype : type);
  if (!found) return input_error(fmt::format("'{}' is not a dtype", type));
  spec.dtype = *found;
  spec.shape = KW_TRY(parse_shape(text.substr(open + 1, close - open - 1)));
  spec.family = trim(text.substr(close + 1));
  if (spec.family.empty()) spec.family = "normal";
  return spec;
}

Result<std::vector<InputSpec>> parse_inputs(std::string_view text, std::string_view dtype) {
  std::vector<InputSpec> specs;
  for (const std::string& piece : split(text, ';')) {
    if (trim(piece).empty()) continue;
    specs.push_back(KW_TRY(parse_input(trim(piece), dtype)));
  }
  return specs;
}

struct Columns {
  std::string name, dtypes, inputs, expression;
};

Result<Columns> columns_of(std::string_view line) {
  std::vector<std::string> pieces;
  for (int i = 0; i < 3; ++i) {
    const size_t bar = line.find('|');
    if (bar == std::string_view::npos) {
      return input_error(fmt::format("a line has four columns: '{}'", line));
    }
    pieces.emplace_back(trim(line.substr(0, bar)));
    line.remove_prefix(bar + 1);
  }
  return Columns{pieces[0], pieces[1], pieces[2], std::string(trim(line))};
}

}  // namespace

Result<std::vector<Case>> parse_table(const std::string& text) {
  std::vector<Case> cases;
  for (std::string_view line : split_lines(text)) {
    if (trim(line).empty() || line.starts_with("#")) continue;
    Columns columns = KW_TRY(columns_of(line));
    Case one;
    one.expression = columns.expression;
    constexpr std::string_view kRaises = "raises ";
    if (one.expression.starts_with(kRaises)) {
      const size_t end = one.expression.find("::");
      if (end == std::string::npos) return input_error(fmt::format("no '::' in '{}'", line));
      one.refused = true;
      one.raises =
          trim(std::string_view(one.expression).substr(kRaises.size(), end - kRaises.size()));
      one.expression = trim(std::string_view(one.expression).substr(end + 2));
    }
    for (const std::string& dtype : split(columns.dtypes, ' ')) {
      if (dtype.empty()) continue;
      one.name = dtype == "-" ? columns.name : columns.name + "." + dtype;
      one.inputs = KW_TRY(parse_inputs(columns.inputs, dtype));
      cases.push_back(one);
    }
  }
  return cases;
}

Result<tensor::HostTensor> make_input(const Case& one, const InputSpec& spec) {
  tensor::HostTensor tensor = KW_TRY(tensor::make_tensor(spec.dtype, spec.shape));
  KW_TRY(fill(tensor, spec.family, seed_of(one.name + "/" + spec.name)));
  return tensor;
}

}  // namespace kw::ops
