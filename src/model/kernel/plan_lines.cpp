#include "kernel/plan_lines.h"

#include <algorithm>

#include "core/text.h"

namespace kw::kernel {

static constexpr size_t kMaxPlanLine = 8000;

std::vector<PlanLine> find_plan_lines(std::string_view text, const cuda_source::SourceText& source,
                                      std::vector<cuda_source::Diagnostic>& diagnostics) {
  const std::vector<std::string_view> lines = split_lines(text);
  std::vector<PlanLine> out;
  for (const cuda_source::SourceToken& comment : source.comments) {
    if (!comment.text.starts_with("//!")) continue;
    const auto at = static_cast<size_t>(comment.column - 1);
    const std::string_view line = lines[static_cast<size_t>(comment.line) - 1];
    if (!comment.alone_before) {
      diagnostics.push_back({comment.line, comment.column, 3,
                             "a '//!' line must be alone on its line",
                             "use '//' or '///' for other comments"});
      continue;
    }
    if (!line.substr(at).starts_with("//!")) {
      diagnostics.push_back({comment.line, comment.column, 2, "a '//!' is split by a backslash",
                             "write '//!' in one piece"});
      continue;
    }
    if (line.size() > kMaxPlanLine) {
      diagnostics.push_back(
          {comment.line, comment.column, 3,
           "this '//!' line is longer than " + std::to_string(kMaxPlanLine) + " bytes", ""});
      continue;
    }
    PlanLine plan;
    plan.number = comment.line;
    plan.text = line;
    plan.begin = at + 3;
    plan.end = std::min(line.find("//", plan.begin), line.size());
    if (text.substr(comment.begin, comment.end - comment.begin).find('\n') !=
        std::string_view::npos) {
      diagnostics.push_back({comment.line, static_cast<int>(line.size()), 1,
                             "a '//!' line may not be continued with a backslash",
                             "write it on one line; lines may be long"});
      plan.end = std::min(plan.end, line.size() - 1);
    }
    out.push_back(plan);
  }
  return out;
}

}  // namespace kw::kernel
