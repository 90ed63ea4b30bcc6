// The `lint` command: a report for each task. A task that cannot be read or evaluated becomes a
// finding, so one bad task does not hide the others.
#pragma once

#include <string>
#include <vector>

#include "lint/lint.h"
#include "ports/oracle.h"
#include "reference/load_reference.h"
#include "single_run/run_module.h"

namespace kw::verification {

/// A folder of tasks means all its tasks. A robust-kbench folder means its directions and variants.
/// Errors of one task become its findings; an Error here is about the machine.
Result<std::vector<lint::Report>> lint_tasks(
    const std::vector<reference::ReferenceRequest>& references, const lint::LintOptions& options,
    ports::Oracle& oracle, const single_run::Progress& progress = {});

}  // namespace kw::verification
