#include "task_formats/shapes_yaml.h"

#include <fmt/core.h>

#include "core/text.h"

namespace kw::task_formats {
namespace {

constexpr size_t kMostShapes = 1000, kMostRank = 16;

using Shapes = std::vector<std::vector<int64_t>>;

/// A line with content, without its comment.
struct YamlLine {
  int number = 0;
  size_t indent = 0;
  std::string text;
};

class ShapesReader {
 public:
  explicit ShapesReader(std::string file) : file_(std::move(file)) {}

  Result<Shapes> read(const std::string& text) {
    KW_TRY(cut(text));
    if (lines_.empty()) return at(1, "no shapes");
    if (lines_.front().text.starts_with("["))
      KW_TRY(read_flow());
    else
      for (const YamlLine& line : lines_) KW_TRY(read_line(line));
    return check();
  }

 private:
  Error at(int line, const std::string& what) const {
    return input_error("{}:{}: {}; a list of shapes is expected, one '- [8, 64]' per line", file_,
                       line, what);
  }

  Status cut(const std::string& text) {
    int number = 0;
    for (const std::string_view raw : split_lines(text)) {
      ++number;
      const std::string_view content = raw.substr(0, raw.find('#'));
      const std::string_view plain = trim(content);
      if (plain.empty() || plain == "---" || plain == "...") continue;
      if (content.substr(0, content.find(plain)).find('\t') != std::string_view::npos)
        return at(number, "tabs cannot indent");
      lines_.push_back({number, content.find(plain.front()), std::string(plain)});
    }
    return Done{};
  }

  // "- [8, 64]", "- - 8" with "  - 64" below it.
  Status read_line(const YamlLine& line) {
    if (line.text != "-" && !line.text.starts_with("- "))
      return at(line.number, fmt::format("'{}' is not an item of a list", line.text));
    const size_t outer = lines_.front().indent;
    const std::string rest(trim(line.text.substr(1)));
    if (line.indent > outer) {
      if (shapes_.empty() || flow_) return at(line.number, "an extent without a shape");
      return add_extent(line, rest);
    }
    if (line.indent < outer) return at(line.number, "indented less than the first shape");
    KW_TRY(add_shape(line));
    flow_ = rest.starts_with("[");
    if (flow_) return add_flow(line, rest);
    if (rest.empty()) return Done{};
    if (!rest.starts_with("-"))
      return at(line.number, fmt::format("'{}' is not a list of extents", rest));
    return add_extent(line, std::string(trim(rest.substr(1))));
  }

  // "[[8, 64], [16, 128]]", on one line or several.
  Status read_flow() {
    std::string all;
    for (const YamlLine& line : lines_) all += line.text + " ";
    const std::string_view text = trim(all);
    const YamlLine& first = lines_.front();
    if (!text.ends_with("]")) return at(first.number, "the list is not closed");
    std::string_view rest = trim(text.substr(1, text.size() - 2));
    while (!rest.empty()) {
      const size_t end = rest.find(']');
      if (!rest.starts_with("[") || end == std::string_view::npos)
        return at(first.number, "every shape is a list in brackets");
      KW_TRY(add_shape(first));
      KW_TRY(add_flow(first, std::string(rest.substr(0, end + 1))));
      rest = trim(rest.substr(end + 1));
      if (rest.starts_with(",")) rest = trim(rest.substr(1));
    }
    return Done{};
  }

  Status add_shape(const YamlLine& line) {
    if (shapes_.size() == kMostShapes)
      return at(line.number, fmt::format("more than {} shapes", kMostShapes));
    shapes_.emplace_back();
    numbers_.push_back(line.number);
    return Done{};
  }

  Status add_flow(const YamlLine& line, const std::string& list) {
    if (!list.ends_with("]")) return at(line.number, "the shape is not closed");
    const std::string inner(trim(list.substr(1, list.size() - 2)));
    if (inner.empty()) return Done{};
    for (const std::string& item : split(inner, ',')) KW_TRY(add_extent(line, item));
    return Done{};
  }

  Status add_extent(const YamlLine& line, const std::string& text) {
    const std::string digits = replace_all(std::string(trim(text)), "_", "");
    const auto value = parse_int(digits);
    if (!value || *value < 1)
      return at(line.number, fmt::format("'{}' is not an extent of 1 or more", trim(text)));
    if (shapes_.back().size() == kMostRank)
      return at(line.number, fmt::format("more than {} extents", kMostRank));
    shapes_.back().push_back(*value);
    return Done{};
  }

  Result<Shapes> check() {
    for (size_t i = 0; i < shapes_.size(); ++i) {
      if (shapes_[i].empty()) return at(numbers_[i], "a shape without extents");
      if (shapes_[i].size() != shapes_.front().size())
        return at(numbers_[i], fmt::format("all shapes must have one rank; found {} and {}",
                                           shapes_.front().size(), shapes_[i].size()));
    }
    if (shapes_.empty()) return at(1, "no shapes");
    return std::move(shapes_);
  }

  std::string file_;
  std::vector<YamlLine> lines_;
  Shapes shapes_;
  std::vector<int> numbers_;  // lines of the shapes
  bool flow_ = false;         // the last shape is complete
};

}  // namespace

Result<Shapes> parse_shapes_yaml(const std::string& text, const std::string& file_name) {
  return ShapesReader(file_name).read(text);
}

}  // namespace kw::task_formats
