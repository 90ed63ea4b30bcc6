#include "engine/lint.h"

namespace kw::engine {

namespace {

lint::Report unreadable(const ReferenceRequest& reference, const Error& error) {
  lint::Report report;
  report.task = report.path = reference.path;
  report.findings.push_back({"unreadable", lint::Severity::Error, "", error.message, "", 0});
  return report;
}

Result<lint::Report> lint_one(const ReferenceRequest& reference, const lint::Options& options,
                              exec::Oracle& oracle) {
  const task::Task task = KW_TRY(load_reference(reference));
  return lint::lint(task, oracle, options);
}

}  // namespace

Result<std::vector<lint::Report>> lint_tasks(const std::vector<ReferenceRequest>& references,
                                             const lint::Options& options, exec::Oracle& oracle,
                                             const Progress& progress) {
  std::vector<lint::Report> reports;
  for (const ReferenceRequest& reference : references) {
    if (progress) progress("looking at " + reference.path);
    Result<lint::Report> report = lint_one(reference, options, oracle);
    if (report) {
      reports.push_back(std::move(report).value());
    } else if (report.error().blame == Blame::Input) {
      reports.push_back(unreadable(reference, report.error()));
    } else {
      return std::move(report).error();
    }
  }
  return reports;
}

}  // namespace kw::engine
