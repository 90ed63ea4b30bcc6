// Functions of PyTorch and of other libraries, by name.
#pragma once

#include <optional>
#include <string>

#include "frontend/trace_state.h"

namespace kw::frontend {

Result<Value> call_library(TraceState& trace, const std::string& name, Arguments arguments);

}  // namespace kw::frontend
