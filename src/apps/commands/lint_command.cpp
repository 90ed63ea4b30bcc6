#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "commands/command.h"
#include "commands/values.h"
#include "core/contains.h"
#include "core/text.h"
#include "os/file_error.h"
#include "os/files.h"
#include "os/permissions.h"
#include "verification/lint_tasks.h"
#include "verification/verify_tools.h"

namespace kw::commands {

namespace {

constexpr size_t kNameColumn = 48;
constexpr std::array kVerdicts = {"fine", "usable", "degenerate", "unreadable"};

report::Paint paint_of(const lint::Report& result) {
  return result.findings.empty() ? report::Paint::Good
         : result.usable()       ? report::Paint::Warning
                                 : report::Paint::Error;
}

/// For many tasks: one line each, and below it the findings, errors first.
std::string row_text(const lint::Report& result, const report::Style& style) {
  std::vector<std::string> rules;
  std::string why;
  for (const lint::Finding& finding : result.findings) {
    if (!contains(rules, finding.rule)) rules.push_back(finding.rule);
    const std::string line = finding.message.substr(0, finding.message.find('\n'));
    why += fmt::format("    {}: {}\n", finding.rule, printable(line));
  }
  const std::string verdict = fmt::format("{:<10}", result.verdict());
  return fmt::format("{:<{}}  {}  {}\n{}", os::without_controls(result.task), kNameColumn,
                     paint(style, paint_of(result), verdict), join(rules, ", "), why);
}

std::string counts_text(const std::vector<lint::Report>& reports) {
  std::vector<std::string> parts;
  for (const char* verdict : kVerdicts) {
    const auto count = std::ranges::count_if(reports, [&](const lint::Report& report) {
      return std::string_view(report.verdict()) == verdict;
    });
    if (count > 0) parts.push_back(fmt::format("{} {}", count, verdict));
  }
  return fmt::format("{} tasks: {}\n", reports.size(), join(parts, ", "));
}

/// Says once why files that only PyTorch can read were not executed.
std::string not_executed_text(const std::vector<lint::Report>& reports) {
  const std::string why = os::why_forbidden(os::Runs::Python);
  const auto is_about = [&](const lint::Finding& finding) {
    return !why.empty() && finding.message.find(why) != std::string::npos;
  };
  const auto count = std::ranges::count_if(reports, [&](const lint::Report& report) {
    return std::ranges::any_of(report.findings, is_about);
  });
  if (count == 0) return "";
  return fmt::format("PyTorch may read {} of them by running them, but {}\n", count, why);
}

std::string lint_text(const lint::Report& result, const report::Style& style) {
  std::string text = fmt::format(
      "{}  {}\n", os::without_controls(result.task),
      paint(style, paint_of(result), result.usable() ? result.verdict() : "do not use"));
  for (const lint::Finding& finding : result.findings) {
    const bool error = finding.severity == lint::Severity::Error;
    const std::string label = lint::severity_name(finding.severity);
    text += fmt::format("  {} [{}] {}",
                        paint(style, error ? report::Paint::Error : report::Paint::Warning, label),
                        finding.rule, finding.message);
    if (finding.line > 0) text += fmt::format(", line {}", finding.line);
    if (!finding.shape.empty()) text += fmt::format("  (at {})", finding.shape);
    text += '\n';
  }
  for (const std::string& shape : result.left_out) text += "  not checked: " + shape + "\n";
  if (result.kill_rate) {
    text += fmt::format("  imposters stopped: {:.0f} %\n", 100 * *result.kill_rate);
  }
  if (!result.equivalent.empty())
    text += fmt::format("  equivalent here, and not counted: {}\n", join(result.equivalent, ", "));
  return text;
}

Result<std::vector<lint::Report>> lint_reports(const Args& args, Io& io) {
  lint::LintOptions options;
  options.seeds = static_cast<int>(args.integer("--seeds"));
  options.seconds = static_cast<double>(args.integer("--seconds"));
  options.threads = static_cast<int>(args.integer("--threads"));
  const binding::BindingRequest bindings = KW_TRY(binding_options(args));
  std::vector<reference::ReferenceRequest> references;
  for (const std::string& path : args.positionals) {
    // A file that cannot be read is a finding; a missing file is a typing mistake.
    std::string file = path, function = args.one("--function");
    KW_TRY(reference::split_name(file, function));
    if (!os::exists(file))
      return input_error("{}: no such file or folder", os::without_controls(path));
    references.push_back(
        {file, function, args.all("--input"), bindings.dims, {}, false, {}, args.one("--mode")});
  }
  const auto oracle = verification::open_oracle();
  const auto progress = [&io](const std::string& what) { io.progress(what); };
  return verification::lint_tasks(references, options, *oracle, progress);
}

}  // namespace

Result<int> lint_command(const Args& args, Io& io) {
  const std::vector<lint::Report> reports = KW_TRY(lint_reports(args, io));
  Json list = Json::array();
  bool usable = true;
  const bool folder = reports.size() > args.positionals.size();
  for (const lint::Report& report : reports) {
    io.print(folder ? row_text(report, io.style()) : lint_text(report, io.style()));
    list.push(lint::to_json(report));
    usable = usable && report.usable();
  }
  if (folder) io.print(counts_text(reports) + not_executed_text(reports));
  if (const std::string path = args.one("--sarif"); !path.empty()) {
    KW_TRY(os::write_file(path, lint::to_sarif(reports, KW_VERSION).dump(true) + "\n"));
  }
  return io.finish(usable ? kOk : kCandidateFailed, Json().set("tasks", std::move(list)));
}

}  // namespace kw::commands
