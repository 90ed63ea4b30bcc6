#include "expected.h"

#include <fmt/core.h>

#include <cstring>

#include "core/text.h"

namespace kw::ops {
namespace {

// "fp32[2,3] 3f800000 …"
Result<ExpectedOutput> parse_output(std::string_view text) {
  const std::vector<std::string> words = split(text, ' ');
  const size_t open = words[0].find('['), close = words[0].find(']');
  if (open == std::string::npos || close == std::string::npos) {
    return input_error(fmt::format("'{}' is no output", words[0]));
  }
  ExpectedOutput output;
  const auto dtype = tensor::dtype_from_name(words[0].substr(0, open));
  if (!dtype) return input_error(fmt::format("'{}' has no dtype", words[0]));
  output.dtype = *dtype;
  for (const std::string& extent : split(words[0].substr(open + 1, close - open - 1), ',')) {
    if (!extent.empty()) output.shape.push_back(parse_int(extent).value_or(-1));
  }
  for (size_t i = 1; i < words.size(); ++i) {
    output.words.push_back(std::stoull(words[i], nullptr, 16));
  }
  return output;
}

}  // namespace

Result<std::map<std::string, Expected>> parse_expected(const std::string& text) {
  std::map<std::string, Expected> all;
  for (std::string_view line : split_lines(text)) {
    if (trim(line).empty() || line.starts_with("#")) continue;
    const std::vector<std::string> pieces = split(line, '|');
    Expected expected;
    for (size_t i = 1; i < pieces.size(); ++i) {
      const std::string_view piece = trim(pieces[i]);
      if (piece.starts_with("raises ")) {
        expected.refused = true;
        expected.raises = piece.substr(7);
        continue;
      }
      expected.outputs.push_back(KW_TRY(parse_output(piece)));
    }
    all.emplace(trim(pieces[0]), std::move(expected));
  }
  return all;
}

Status overlay(const ExpectedOutput& output, tensor::HostTensor& tensor) {
  const auto size = static_cast<size_t>(tensor::dtype_size(tensor.dtype));
  const int64_t count = KW_TRY(tensor::element_count(tensor.shape));
  const auto have = static_cast<int64_t>(output.words.size());
  if (have > count || (have < count && have < 2)) {
    return input_error(fmt::format("{} elements recorded of {}", have, count));
  }
  for (int64_t i = 0; i < have; ++i) {
    const int64_t at = have == count ? i : i * (count - 1) / (have - 1);
    std::memcpy(tensor.data.data() + static_cast<size_t>(at) * size,
                &output.words[static_cast<size_t>(i)], size);
  }
  return Done{};
}

}  // namespace kw::ops
