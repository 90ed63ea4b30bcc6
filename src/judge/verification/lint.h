// The story of `lint`: tasks in, a report on each out. A task that cannot be read or evaluated is
// reported like any other finding, so that one bad task does not hide the rest.
#pragma once

#include <string>
#include <vector>

#include "engine/load_reference.h"
#include "engine/run.h"
#include "exec/oracle.h"
#include "lint/lint.h"

namespace kw::engine {

/// A folder of tasks stands for the tasks in it, one of robust-kbench's for its directions and
/// variants. Errors of a single task become its findings; an Error here is the machine's.
Result<std::vector<lint::Report>> lint_tasks(const std::vector<ReferenceRequest>& references,
                                             const lint::Options& options, exec::Oracle& oracle,
                                             const Progress& progress = {});

}  // namespace kw::engine
