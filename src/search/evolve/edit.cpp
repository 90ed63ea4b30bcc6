#include "evolve/edit.h"

#include <fmt/core.h>

#include <vector>

#include "core/text.h"

namespace kw::evolve {
namespace {

constexpr std::string_view kSearch = "<<<<<<< SEARCH",
                           kMiddle = "=======", kReplace = ">>>>>>> REPLACE";

struct EditBlock {
  std::vector<std::string> search, replace;
};

bool is_mark(std::string_view line, std::string_view mark) { return trim(line) == mark; }

Result<std::vector<EditBlock>> read_blocks(std::string_view answer) {
  std::vector<EditBlock> blocks;
  enum class Where { Outside, Search, Replace } where = Where::Outside;
  for (const std::string_view line : split_lines(answer)) {
    if (where == Where::Outside) {
      if (!is_mark(line, kSearch)) continue;
      blocks.emplace_back();
      where = Where::Search;
    } else if (where == Where::Search) {
      if (is_mark(line, kMiddle))
        where = Where::Replace;
      else
        blocks.back().search.emplace_back(line);
    } else {
      if (is_mark(line, kReplace))
        where = Where::Outside;
      else
        blocks.back().replace.emplace_back(line);
    }
  }
  if (where != Where::Outside)
    return input_error("block {} has no '{}' line", blocks.size(),
                       where == Where::Search ? kMiddle : kReplace);
  if (blocks.empty()) return input_error("it holds no search/replace block");
  return blocks;
}

std::string_view without_end(std::string_view line) {
  const size_t last = line.find_last_not_of(" \t\r");
  return last == std::string_view::npos ? std::string_view() : line.substr(0, last + 1);
}

/// Every line at which the searched lines begin; blanks at the ends of lines are ignored.
std::vector<size_t> places(const std::vector<std::string>& lines, const EditBlock& block) {
  std::vector<size_t> found;
  for (size_t at = 0; at + block.search.size() <= lines.size(); ++at) {
    bool fits = true;
    for (size_t k = 0; fits && k < block.search.size(); ++k)
      fits = without_end(lines[at + k]) == without_end(block.search[k]);
    if (fits) found.push_back(at);
  }
  return found;
}

}  // namespace

bool has_blocks(std::string_view text) {
  for (const std::string_view line : split_lines(text)) {
    if (is_mark(line, kSearch)) return true;
  }
  return false;
}

Result<std::string> apply_blocks(std::string text, std::string_view answer) {
  const std::vector<EditBlock> blocks = KW_TRY(read_blocks(answer));
  std::vector<std::string> lines;
  for (const std::string_view line : split_lines(text)) lines.emplace_back(line);
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].search.empty()) return input_error("block {} searches for nothing", i + 1);
    const std::vector<size_t> found = places(lines, blocks[i]);
    if (found.size() != 1)
      return input_error(
          "block {}: its lines occur {} in the module; they must occur exactly once; the first is "
          "'{}'",
          i + 1, found.empty() ? "nowhere" : fmt::format("{} times", found.size()),
          blocks[i].search.front());
    const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(found.front());
    const auto at =
        lines.erase(begin, begin + static_cast<std::ptrdiff_t>(blocks[i].search.size()));
    lines.insert(at, blocks[i].replace.begin(), blocks[i].replace.end());
  }
  return join(lines, "\n") + "\n";
}

}  // namespace kw::evolve
