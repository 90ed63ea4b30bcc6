// Reports as JSON, the same for every interface. The schema is in docs/cli.md; keys are only added.
#pragma once

#include "core/json.h"
#include "single_run/check_module.h"
#include "single_run/run_module.h"

namespace kw::single_run {

Json to_json(const RunReport& report, const kernel::Module& module);
Json to_json(const CheckReport& report, const kernel::Module& module);

}  // namespace kw::single_run
