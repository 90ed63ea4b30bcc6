#include "kernel/parse_module.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "core/utf8.h"
#include "cuda_source/source_check.h"
#include "kernel/cursor.h"
#include "kernel/draft.h"
#include "kernel/inject.h"
#include "kernel/recorded.h"

namespace kw::kernel {

namespace {

constexpr size_t kMaxPlanLines = 5000;
constexpr size_t kMaxDiagnostics = 100;
constexpr int64_t kVersion = 1;

// A text that is not a module at all gets one message instead of a hundred.
std::optional<cuda_source::Diagnostic> not_a_module(std::string_view text) {
  if (text.size() > kMaxModuleBytes) {
    return cuda_source::Diagnostic{
        0, 0, 1,
        fmt::format("the file has {}; a module has at most {}", human_bytes(text.size()),
                    human_bytes(kMaxModuleBytes)),
        ""};
  }
  if (trim(text).empty()) {
    return cuda_source::Diagnostic{0, 0, 1, "the file is empty",
                                   "a module starts with '//! kernelwright 1'"};
  }
  if (text.find('\0') != std::string_view::npos) {
    return cuda_source::Diagnostic{0, 0, 1, "the file is not text: it holds a zero byte",
                                   "a module is CUDA source with '//!' lines"};
  }
  if (text.starts_with(kByteOrderMark)) {
    return cuda_source::Diagnostic{1, 1, 1, "the file starts with a byte order mark",
                                   "save it as plain UTF-8"};
  }
  // A compiler may read such a byte as the end of the file, where our lexer reads on.
  if (const auto bad = find_bad_byte(text)) {
    return cuda_source::Diagnostic{bad->line, bad->column, 1,
                                   fmt::format("the byte 0x{:02X} is not UTF-8", bad->value),
                                   "save the file as UTF-8"};
  }
  return std::nullopt;
}

// The first plan line that is not blank states the version.
bool read_version(const PlanLine& line, Draft& draft) {
  Cursor cursor(line.text, line.number, line.begin, line.end, draft.diagnostics);
  if (!cursor.accept_word("kernelwright")) {
    cursor.fail("the first '//!' line must say the format version, found " + cursor.found(),
                "start the module with '//! kernelwright 1'");
    return false;
  }
  const size_t begin = cursor.position();
  const std::optional<int64_t> version = cursor.take_integer("the format version");
  if (version && *version != kVersion) {
    cursor.fail_at(begin, cursor.position_after(),
                   fmt::format("unknown format version {}", *version),
                   fmt::format("this kernelwright reads version {}", kVersion));
  } else if (version) {
    cursor.expect_end("the form is 'kernelwright 1'");
  }
  return true;
}

void read_plan(const std::vector<PlanLine>& lines, Draft& draft) {
  bool versioned = false;
  for (const PlanLine& line : lines) {
    if (trim(line.text.substr(line.begin, line.end - line.begin)).empty()) continue;
    if (!versioned) {
      versioned = true;
      if (read_version(line, draft)) continue;
    }
    read_plan_line(line, draft);
  }
}

void sort_and_limit(std::vector<cuda_source::Diagnostic>& diagnostics) {
  std::ranges::stable_sort(diagnostics,
                           [](const cuda_source::Diagnostic& a, const cuda_source::Diagnostic& b) {
                             return std::pair(a.line, a.column) < std::pair(b.line, b.column);
                           });
  if (diagnostics.size() <= kMaxDiagnostics) return;
  const size_t left_out = diagnostics.size() - kMaxDiagnostics;
  diagnostics.resize(kMaxDiagnostics);
  diagnostics.push_back({0, 0, 1, fmt::format("{} more problems are not shown", left_out), ""});
}

}  // namespace

ParseOutcome parse(std::string_view text, const std::string& file_name) {
  ParseOutcome outcome;
  if (const std::optional<cuda_source::Diagnostic> problem = not_a_module(text)) {
    outcome.diagnostics.push_back(*problem);
    return outcome;
  }
  Draft draft;
  const cuda_source::SourceText source = cuda_source::lex_source(text);
  const std::vector<PlanLine> lines = find_plan_lines(text, source, draft.diagnostics);
  if (lines.empty() || lines.size() > kMaxPlanLines) {
    draft.diagnostics.push_back(
        {0, 0, 1,
         lines.empty()
             ? "no '//!' line: this is not a kernel module"
             : fmt::format("{} '//!' lines; a module has at most {}", lines.size(), kMaxPlanLines),
         lines.empty() ? "start it with '//! kernelwright 1'; see docs/kernel-module.md" : ""});
    outcome.diagnostics = std::move(draft.diagnostics);
    return outcome;
  }
  read_plan(lines, draft);
  check_module(source, find_injection(text).offset, draft);
  if (draft.module.recorded.empty()) {
    for (cuda_source::Diagnostic& problem : cuda_source::check_source(text))
      draft.diagnostics.push_back(std::move(problem));
  }
  sort_and_limit(draft.diagnostics);
  if (draft.diagnostics.empty()) {
    draft.module.file_name = file_name;
    draft.module.text = std::string(text);
    outcome.module = std::move(draft.module);
  }
  outcome.diagnostics = std::move(draft.diagnostics);
  return outcome;
}

}  // namespace kw::kernel
