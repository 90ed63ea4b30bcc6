// Models write diffs with wrong line numbers and counts. A standard patch program rejects such
// diffs, or applies them with fuzz at a wrong place. Here the numbers are only hints: a hunk goes
// to the nearest place where all its old lines match exactly, after the previous hunk. An inexact
// match would accept more diffs, but could change the wrong line of a kernel. A hunk that fits
// nowhere is an Error with the expected and the actual line, so that the model can correct it. The
// cost: a wrong context line takes another attempt.
#include "stages/patch.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "core/text.h"

namespace kw::stages {
namespace {

struct Hunk {
  int64_t line = 0;  // the line in its header, from 1; 0: none given
  std::vector<std::string_view> before, after;
};

/// "@@ -12,7 +12,9 @@" -> 12.
int64_t hunk_line(std::string_view header) {
  const size_t minus = header.find('-');
  if (minus == std::string_view::npos) return 0;
  size_t end = minus + 1;
  while (end < header.size() && header[end] >= '0' && header[end] <= '9') ++end;
  return parse_int(header.substr(minus + 1, end - minus - 1)).value_or(0);
}

bool is_file_header(std::string_view line) {
  return line.starts_with("--- ") || line.starts_with("+++ ") || line.starts_with("diff ") ||
         line.starts_with("index ");
}

void add_line(Hunk& hunk, std::string_view line) {
  // An empty line is a context line without its leading blank.
  const char kind = line.empty() ? ' ' : line[0];
  const std::string_view rest = line.empty() ? line : line.substr(1);
  if (kind != '+') hunk.before.push_back(rest);
  if (kind != '-') hunk.after.push_back(rest);
}

Result<std::vector<Hunk>> read_hunks(std::string_view diff) {
  std::vector<Hunk> hunks;
  bool in_hunk = false;
  for (const std::string_view line : split_lines(diff)) {
    if (line.starts_with("@@")) {
      hunks.push_back({hunk_line(line), {}, {}});
      in_hunk = true;
    } else if (!in_hunk || line.starts_with("\\")) {
      continue;  // text before the first hunk, and "\ No newline at end of file"
    } else if (is_file_header(line) && !hunks.back().before.empty() &&
               (line.starts_with("diff ") || line.starts_with("index "))) {
      return input_error("the diff changes more than one file");
    } else if (line.empty() || line[0] == ' ' || line[0] == '+' || line[0] == '-') {
      add_line(hunks.back(), line);
    } else {
      return input_error("hunk {}: every line begins with a blank, '+' or '-', but one is '{}'",
                         hunks.size(), line.substr(0, 80));
    }
  }
  if (hunks.empty()) return input_error("the diff has no hunk: no line begins with @@");
  return hunks;
}

/// Empty lines at the end of a hunk often belong to the answer, not to the file.
void drop_blank_end(Hunk& hunk) {
  while (!hunk.before.empty() && !hunk.after.empty() && hunk.before.back().empty() &&
         hunk.after.back().empty()) {
    hunk.before.pop_back();
    hunk.after.pop_back();
  }
}

bool fits(const std::vector<std::string_view>& lines, size_t at, const Hunk& hunk) {
  if (at + hunk.before.size() > lines.size()) return false;
  return std::equal(hunk.before.begin(), hunk.before.end(),
                    lines.begin() + static_cast<std::ptrdiff_t>(at));
}

/// The place nearest to `wanted` where the hunk fits, not before `least`.
std::optional<size_t> place(const std::vector<std::string_view>& lines, const Hunk& hunk,
                            size_t wanted, size_t least) {
  std::optional<size_t> best;
  const auto distance = [&](size_t at) { return at > wanted ? at - wanted : wanted - at; };
  for (size_t at = least; at + hunk.before.size() <= lines.size(); ++at) {
    if (fits(lines, at, hunk) && (!best || distance(at) < distance(*best))) best = at;
  }
  return best;
}

/// The number of the hunk's lines that match from `at` on.
size_t matching(const std::vector<std::string_view>& lines, size_t at, const Hunk& hunk) {
  size_t count = 0;
  while (count < hunk.before.size() && at + count < lines.size() &&
         lines[at + count] == hunk.before[count])
    ++count;
  return count;
}

Error misfit(const std::vector<std::string_view>& lines, const Hunk& hunk, size_t number,
             size_t wanted) {
  size_t best = std::min(wanted, lines.size());
  for (size_t at = 0; at < lines.size(); ++at) {
    if (matching(lines, at, hunk) > matching(lines, best, hunk)) best = at;
  }
  const size_t bad = matching(lines, best, hunk);
  if (bad == hunk.before.size())
    return input_error("hunk {} does not fit: its lines are before those of the previous hunk",
                       number);
  const std::string found = best + bad < lines.size()
                                ? fmt::format("line {} is '{}'", best + bad + 1, lines[best + bad])
                                : "the text has ended";
  return input_error("hunk {} does not fit: it expects '{}', but {}", number, hunk.before[bad],
                     found);
}

}  // namespace

bool is_diff(std::string_view text) {
  for (const std::string_view line : split_lines(text)) {
    if (line.starts_with("@@")) return true;
  }
  return false;
}

std::string diff_parent(std::string_view diff) {
  for (const std::string_view line : split_lines(diff)) {
    if (!line.starts_with("--- ")) continue;
    std::string_view name = trim(line.substr(4));
    name = name.substr(0, name.find_first_of(" \t"));
    if (name.starts_with("a/")) name.remove_prefix(2);
    return std::string(name);
  }
  return "";
}

Result<std::string> apply_diff(std::string_view text, std::string_view diff) {
  std::vector<Hunk> hunks = KW_TRY(read_hunks(diff));
  const std::vector<std::string_view> lines = split_lines(text);
  std::vector<std::string_view> out;
  size_t done = 0;  // lines of the text copied so far
  for (size_t i = 0; i < hunks.size(); ++i) {
    Hunk& hunk = hunks[i];
    drop_blank_end(hunk);
    const size_t wanted = hunk.line > 0 ? static_cast<size_t>(hunk.line - 1) : done;
    if (hunk.before.empty() && (hunk.line == 0 || wanted > lines.size()))
      return input_error("hunk {} only adds lines and does not say where", i + 1);
    const auto at = hunk.before.empty() ? std::max(wanted, done) : place(lines, hunk, wanted, done);
    if (!at) return misfit(lines, hunk, i + 1, wanted);
    out.insert(out.end(), lines.begin() + static_cast<std::ptrdiff_t>(done),
               lines.begin() + static_cast<std::ptrdiff_t>(*at));
    out.insert(out.end(), hunk.after.begin(), hunk.after.end());
    done = *at + hunk.before.size();
  }
  out.insert(out.end(), lines.begin() + static_cast<std::ptrdiff_t>(done), lines.end());
  std::string result;
  for (const std::string_view line : out) result.append(line).append("\n");
  return result;
}

}  // namespace kw::stages
