// The story of `lint`: tasks in, a report on each out. A task that cannot be read or evaluated is
// reported like any other finding, so that one bad task does not hide the rest.
#pragma once

#include <string>
#include <vector>

#include "lint/lint.h"
#include "ports/oracle.h"
#include "reference/load_reference.h"
#include "single_run/run.h"

namespace kw::verification {

/// A folder of tasks stands for the tasks in it, one of robust-kbench's for its directions and
/// variants. Errors of a single task become its findings; an Error here is the machine's.
Result<std::vector<lint::Report>> lint_tasks(
    const std::vector<reference::ReferenceRequest>& references, const lint::Options& options,
    ports::Oracle& oracle, const single_run::Progress& progress = {});

}  // namespace kw::verification
