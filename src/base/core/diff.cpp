// The user compares runs, kernels and tasks by a diff, so the diff must be short. We use
// Myers' greedy search for the shortest edit script. It runs only on the lines between the common
// head and the common tail. It keeps one row per number of edits, so memory grows with the square
// of the edits. Texts that differ in more than kMostEdits lines are therefore shown as one replaced
// block. A diff with linear memory would need more code, and a diff that long is not useful to a
// reader.
#include "core/diff.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace kw {

namespace {

constexpr int kMostEdits = 2000;

using Lines = std::vector<std::string_view>;

struct Edit {
  char sign;  // ' ', '-' or '+'
  std::string_view line;
};

// Each line keeps its newline, so that a missing newline at the end shows as a difference.
Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

void replace_all_lines(const Lines& a, const Lines& b, std::vector<Edit>* edits) {
  for (const std::string_view line : a) edits->push_back({'-', line});
  for (const std::string_view line : b) edits->push_back({'+', line});
}

// trace[d][k + d] is the furthest line of `a` that d edits reach on diagonal k.
std::vector<std::vector<int>> furthest(const Lines& a, const Lines& b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  std::vector<std::vector<int>> trace;
  for (int d = 0; d <= std::min(n + m, kMostEdits); ++d) {
    std::vector<int> reach(static_cast<size_t>(2 * d) + 1);
    for (int k = -d; k <= d; k += 2) {
      const auto before = [&](int diagonal) {
        return trace.back()[static_cast<size_t>(diagonal + d - 1)];
      };
      int x = 0;
      if (d > 0) {
        const bool down = k == -d || (k != d && before(k - 1) < before(k + 1));
        x = down ? before(k + 1) : before(k - 1) + 1;
      }
      while (x < n && x - k < m && a[static_cast<size_t>(x)] == b[static_cast<size_t>(x - k)]) ++x;
      reach[static_cast<size_t>(k + d)] = x;
      if (x >= n && x - k >= m) {
        trace.push_back(std::move(reach));
        return trace;
      }
    }
    trace.push_back(std::move(reach));
  }
  return {};
}

void edit_script(const Lines& a, const Lines& b, std::vector<Edit>* edits) {
  const std::vector<std::vector<int>> trace = furthest(a, b);
  if (trace.empty()) return replace_all_lines(a, b, edits);
  std::vector<Edit> backwards;
  int x = static_cast<int>(a.size()), y = static_cast<int>(b.size());
  const auto same_until = [&](int to_x, int to_y) {
    while (x > to_x && y > to_y) --y, backwards.push_back({' ', a[static_cast<size_t>(--x)]});
  };
  for (int d = static_cast<int>(trace.size()) - 1; d > 0; --d) {
    const std::vector<int>& before = trace[static_cast<size_t>(d) - 1];
    const auto at = [&](int diagonal) { return before[static_cast<size_t>(diagonal + d - 1)]; };
    const int k = x - y;
    const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
    const int from_x = down ? at(k + 1) : at(k - 1);
    const int from_y = from_x - (down ? k + 1 : k - 1);
    same_until(down ? from_x : from_x + 1, down ? from_y + 1 : from_y);
    if (down) {
      backwards.push_back({'+', b[static_cast<size_t>(--y)]});
    } else {
      backwards.push_back({'-', a[static_cast<size_t>(--x)]});
    }
  }
  same_until(0, 0);
  edits->insert(edits->end(), backwards.rbegin(), backwards.rend());
}

std::vector<Edit> edits_between(Lines a, Lines b) {
  const auto head = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  std::vector<Edit> edits;
  for (auto it = a.begin(); it != a.begin() + head; ++it) edits.push_back({' ', *it});
  Lines tail;
  while (static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())) > head && a.back() == b.back()) {
    tail.push_back(a.back());
    a.pop_back(), b.pop_back();
  }
  edit_script(Lines(a.begin() + head, a.end()), Lines(b.begin() + head, b.end()), &edits);
  for (auto it = tail.rbegin(); it != tail.rend(); ++it) edits.push_back({' ', *it});
  return edits;
}

std::string range_text(size_t start, size_t count) {
  if (count == 1) return fmt::format("{}", start + 1);
  return fmt::format("{},{}", count == 0 ? start : start + 1, count);
}

std::string hunk_text(const std::vector<Edit>& edits, size_t begin, size_t end) {
  size_t before = 0, after = 0, removed = 0, added = 0;
  for (size_t i = 0; i < end; ++i) {
    (i < begin ? before : removed) += edits[i].sign != '+' ? 1 : 0;
    (i < begin ? after : added) += edits[i].sign != '-' ? 1 : 0;
  }
  std::string text =
      fmt::format("@@ -{} +{} @@\n", range_text(before, removed), range_text(after, added));
  for (size_t i = begin; i < end; ++i) {
    text += edits[i].sign;
    text += edits[i].line;
    if (!edits[i].line.ends_with('\n')) text += "\n\\ No newline at end of file\n";
  }
  return text;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view before_name, std::string_view after_name, int context) {
  if (before == after) return "";
  const std::vector<Edit> edits = edits_between(lines_of(before), lines_of(after));
  std::string text = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
  const auto margin = static_cast<size_t>(context);
  const auto next_change = [&](size_t from) {
    while (from < edits.size() && edits[from].sign == ' ') ++from;
    return from;
  };
  for (size_t change = next_change(0); change < edits.size();) {
    const size_t begin = change - std::min(change, margin);
    size_t end = change;
    // Two changes share a hunk when at most two margins lie between them.
    while (change < edits.size() && change <= end + 2 * margin) {
      end = change + 1;
      change = next_change(end);
    }
    text += hunk_text(edits, begin, std::min(end + margin, edits.size()));
  }
  return text;
}

}  // namespace kw
