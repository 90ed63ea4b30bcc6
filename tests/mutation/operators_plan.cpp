// Operators on plan lines: grids that end early, arguments swapped, limits of `when` and `let`
// moved.
#include <fmt/core.h>

#include <cctype>

#include "core/text.h"
#include "operators.h"

namespace kw::mutation {

namespace {

/// The text between the parentheses after a word, as [begin, end); begin is 0 if there is none.
struct Range {
  size_t begin = 0, end = 0;
};

Range inside(const std::string& line, const std::string& word, size_t from = 0) {
  const size_t at = line.find(word + "(", from);
  if (at == std::string::npos) return {};
  int depth = 0;
  for (size_t i = at + word.size(); i < line.size(); ++i) {
    if (line[i] == '(') ++depth;
    if (line[i] == ')' && --depth == 0) return {at + word.size() + 1, i};
  }
  return {};
}

std::vector<std::string> arguments(const std::string& text) {
  std::vector<std::string> all;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth != 0)) continue;
    all.emplace_back(trim(std::string_view(text).substr(start, i - start)));
    start = i + 1;
  }
  return all;
}

class Lines {
 public:
  explicit Lines(std::vector<Mutation>* all) : all_(*all) {}

  void read(const std::string& line, int number) {
    line_ = line;
    number_ = number;
    const bool launch = line.find("launch") != std::string::npos;
    if (launch) {
      grids();
      swapped_arguments();
    }
    floors();
    if (!launch) moved_limits();
  }

 private:
  void add(Operator op, const std::string& rule, const std::string& text) {
    all_.push_back({op, rule, fmt::format("plan line {}", number_), text, "", 0, number_});
  }

  std::string with(const Range& range, const std::string& text) const {
    return line_.substr(0, range.begin) + text + line_.substr(range.end);
  }

  void grids() {
    const Range grid = inside(line_, "grid");
    if (grid.begin == 0) return;
    const std::vector<std::string> extents =
        arguments(line_.substr(grid.begin, grid.end - grid.begin));
    for (size_t i = 0; i < extents.size(); ++i) {
      if (parse_int(extents[i])) continue;
      std::vector<std::string> others = extents;
      others[i] = fmt::format("max(1, {} - 1)", extents[i]);
      add(Operator::Tail, fmt::format("last block of dim {} left out", i),
          with(grid, join(others, ", ")));
      others[i] = fmt::format("min({}, 7)", extents[i]);
      add(Operator::Tail, fmt::format("grid of dim {} capped", i), with(grid, join(others, ", ")));
    }
  }

  void floors() {
    for (size_t at = 0;;) {
      const Range call = inside(line_, "ceil_div", at);
      if (call.begin == 0) return;
      at = call.begin;
      const auto parts = arguments(line_.substr(call.begin, call.end - call.begin));
      if (parts.size() != 2) continue;
      const Range whole{call.begin - 9, call.end + 1};
      add(Operator::Tail, fmt::format("ceil_div at {} to floor", call.begin),
          with(whole, fmt::format("max(1, ({}) / ({}))", parts[0], parts[1])));
    }
  }

  void swapped_arguments() {
    const Range args = inside(line_, "args");
    if (args.begin == 0) return;
    const std::vector<std::string> names =
        arguments(line_.substr(args.begin, args.end - args.begin));
    for (size_t i = 0; i + 1 < names.size(); ++i) {
      if (names[i] == names[i + 1]) continue;
      std::vector<std::string> others = names;
      std::swap(others[i], others[i + 1]);
      add(Operator::Argument, fmt::format("arguments {} and {} swapped", names[i], names[i + 1]),
          with(args, join(others, ", ")));
    }
  }

  /// Integers of `when` and `let` lines, one more or less.
  void moved_limits() {
    const bool plan =
        line_.find(" when ") != std::string::npos || line_.find(" let ") != std::string::npos;
    if (!plan || line_.find(" method ") != std::string::npos) return;
    for (size_t i = 0; i < line_.size(); ++i) {
      const bool starts =
          std::isdigit(static_cast<unsigned char>(line_[i])) != 0 && i > 0 && line_[i - 1] == ' ';
      if (!starts) continue;
      size_t end = i;
      while (end < line_.size() && std::isdigit(static_cast<unsigned char>(line_[end])) != 0) ++end;
      const bool whole =
          end == line_.size() ||
          (line_[end] != '.' && std::isalpha(static_cast<unsigned char>(line_[end])) == 0);
      const auto value = parse_int(line_.substr(i, end - i));
      if (whole && value && *value < 1000000) {
        add(Operator::Guard, fmt::format("limit {} at {} + 1", *value, i),
            with({i, end}, std::to_string(*value + 1)));
        add(Operator::Guard, fmt::format("limit {} at {} - 1", *value, i),
            with({i, end}, std::to_string(*value - 1)));
      }
      i = end;
    }
  }

  std::vector<Mutation>& all_;
  std::string line_;
  int number_ = 0;
};

}  // namespace

std::vector<Mutation> plan_mutations(const std::string& module_text) {
  std::vector<Mutation> all;
  Lines lines(&all);
  int number = 0;
  for (const std::string_view line : split_lines(module_text)) {
    ++number;
    if (trim(line).substr(0, 3) == "//!") lines.read(std::string(line), number);
  }
  return all;
}

std::string mutated_plan(const std::string& module_text, const Mutation& mutation) {
  std::string text;
  int number = 0;
  for (const std::string_view line : split_lines(module_text)) {
    text += ++number == mutation.plan_line ? mutation.text : std::string(line);
    text += '\n';
  }
  return text;
}

}  // namespace kw::mutation
