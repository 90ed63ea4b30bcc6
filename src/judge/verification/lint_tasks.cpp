#include "verification/lint_tasks.h"

#include <algorithm>

#include "frontend/backward.h"
#include "os/files.h"
#include "os/interrupt.h"
#include "task_formats/load_rkb.h"
#include "task_formats/suite.h"

namespace kw::verification {

namespace {

using Reports = std::vector<lint::Report>;

/// A task to check; `name` is set when it is one of a folder.
struct Target {
  reference::ReferenceRequest reference;
  std::string name;
};

lint::Report unreadable(const Target& target, const Error& error) {
  lint::Report report;
  report.path = target.reference.path;
  report.task = target.name.empty() ? report.path : target.name;
  report.findings.push_back({"unreadable", lint::Severity::Error, "", error.message, "", 0});
  return report;
}

/// The tasks that a path names. If it is not a folder of tasks, the front end reports that.
std::vector<Target> targets_of(const reference::ReferenceRequest& reference) {
  const std::vector<Target> itself = {{reference, ""}};
  if (!os::is_directory(reference.path)) return itself;
  // A folder may have the name of a built-in suite.
  const bool carried = task_formats::is_carried(reference.path);
  const auto suite = task_formats::open_suite(carried ? "./" + reference.path : reference.path, "");
  if (!suite || (suite->tasks.size() == 1 && suite->tasks[0].path == reference.path)) return itself;
  std::vector<Target> targets;
  for (const task_formats::SuiteTask& task : suite->tasks) {
    targets.push_back({reference, task.name});
    targets.back().reference.path = task.path;
  }
  return targets;
}

/// Puts findings about the folder and its configurations before those about the task.
void add_problems(const std::vector<task_formats::FolderProblem>& problems, lint::Report* report) {
  std::vector<lint::Finding> all;
  for (const task_formats::FolderProblem& problem : problems) {
    all.push_back({problem.rule, problem.error ? lint::Severity::Error : lint::Severity::Warning,
                   "", problem.message, "", 0});
  }
  std::ranges::move(report->findings, std::back_inserter(all));
  std::ranges::stable_sort(all, {}, &lint::Finding::severity);
  report->findings = std::move(all);
}

/// "[stride=2]" of "block[stride=2].backward".
std::string variant_part(const std::string& name) {
  const size_t open = name.find('['), close = name.rfind(']');
  if (open == std::string::npos || close == std::string::npos) return "";
  return name.substr(open, close + 1 - open);
}

Result<Reports> lint_robust(const Target& target, const lint::LintOptions& options,
                            ports::Oracle& oracle) {
  task_formats::LoadOptions load;
  load.inputs = target.reference.inputs;
  load.dims = target.reference.dims;
  load.evaluation = target.reference.mode == "eval";
  const task_formats::RkbFolder folder =
      KW_TRY(task_formats::read_rkb(target.reference.path, load));
  Reports reports;
  for (const task::Task& task : folder.tasks) {
    KW_TRY(os::check_interrupted());
    lint::Report report = KW_TRY(lint::lint(task, oracle, options));
    if (!target.name.empty()) report.task = target.name + variant_part(task.name);
    if (reports.empty()) add_problems(folder.problems, &report);
    reports.push_back(std::move(report));
  }
  return reports;
}

Result<Reports> lint_one(const Target& target, const lint::LintOptions& options,
                         ports::Oracle& oracle) {
  const reference::ReferenceRequest& reference = target.reference;
  if (reference.function.empty() && task_formats::is_rkb(reference.path))
    return lint_robust(target, options, oracle);
  const task::Task task = KW_TRY(reference::load_reference(reference));
  lint::Report report = KW_TRY(lint::lint(task, oracle, options));
  if (!target.name.empty()) report.task = target.name;
  return Reports{std::move(report)};
}

}  // namespace

Result<std::vector<lint::Report>> lint_tasks(
    const std::vector<reference::ReferenceRequest>& references, const lint::LintOptions& options,
    ports::Oracle& oracle, const single_run::Progress& progress) {
  std::vector<Target> targets;
  for (const reference::ReferenceRequest& reference : references)
    std::ranges::move(targets_of(reference), std::back_inserter(targets));
  Reports reports;
  for (const Target& target : targets) {
    KW_TRY(os::check_interrupted());
    if (progress)
      progress("checking " + (target.name.empty() ? target.reference.path : target.name));
    Result<Reports> found = lint_one(target, options, oracle);
    if (found) {
      std::ranges::move(*found, std::back_inserter(reports));
    } else if (found.error().blame == Blame::Input) {
      reports.push_back(unreadable(target, found.error()));
    } else {
      return std::move(found).error();
    }
  }
  return reports;
}

}  // namespace kw::verification
