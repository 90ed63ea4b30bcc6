// Reports of run and check as text for users: compile messages with their source, outputs,
// resources. Pure functions.
#pragma once

#include <string>

#include "report/style.h"
#include "single_run/check_module.h"
#include "single_run/run_module.h"

namespace kw::commands {

/// Why a candidate does not compile: each message with its line of source.
std::string compile_failure_text(const ports::CompileFailed& failed, const kernel::Module& module,
                                 const report::Style& style);
std::string run_text(const single_run::RunReport& report, const kernel::Module& module,
                     const report::Style& style);
std::string check_text(const single_run::CheckReport& report, const kernel::Module& module,
                       const report::Style& style);

}  // namespace kw::commands
