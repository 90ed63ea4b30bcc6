// Expressions of the reference, and the operators of Python.
#pragma once

#include <string_view>
#include <vector>

#include "frontend/trace_state.h"

namespace kw::frontend {

Result<Value> eval(TraceState& trace, const Json& node);
Result<std::vector<Value>> eval_items(TraceState& trace, const Json& nodes);
Result<Value> binary(TraceState& trace, std::string_view op, const Value& a, const Value& b);
Result<bool> truth_of(TraceState& trace, const Value& value);

}  // namespace kw::frontend
