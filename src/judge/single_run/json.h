// Reports as JSON, the same for every door. The schema is in docs/cli.md; keys are only ever added.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "engine/check.h"
#include "engine/run.h"

namespace kw::engine {

Json texts(const std::vector<std::string>& list);
Json to_json(const RunReport& report, const kernel::Module& module);
Json to_json(const CheckReport& report, const kernel::Module& module);

}  // namespace kw::engine
