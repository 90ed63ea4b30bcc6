// Functions of Python itself, and the methods of its containers.
#pragma once

#include <string>

#include "frontend/trace_state.h"

namespace kw::frontend {

Result<Value> builtin_length(TraceState& trace, const Value& value);
/// zip, list, dict, map and the other functions that make a container.
Result<Value> builtin_sequence(TraceState& trace, const std::string& name,
                               const Arguments& arguments);
Result<Value> call_builtin(TraceState& trace, const std::string& name, Arguments arguments);
Result<Value> call_container(TraceState& trace, const BoundMethod& method, Arguments arguments);

}  // namespace kw::frontend
