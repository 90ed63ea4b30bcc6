// Functions of PyTorch and of other libraries, by name.
#pragma once

#include <optional>
#include <string>

#include "frontend/trace_state.h"

namespace kw::frontend {

Result<Value> call_library(TraceState& trace, const std::string& name, Arguments arguments);
/// A class or function of python/library; not set for an unknown name.
Result<std::optional<Value>> written(TraceState& trace, const std::string& name);

}  // namespace kw::frontend
