// Functions of the file and calls of every kind.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/trace_state.h"

namespace kw::frontend {

Result<Value> make_function(TraceState& trace, const Json& node, const std::string& name);
Result<Value> decorate(TraceState& trace, const Json& statement, Value value);
Result<Value> call_function(TraceState& trace, const Function& function, Arguments arguments,
                            const Value& self);
Result<Value> eval_call(TraceState& trace, const Json& node);
/// Calls a function, method, class, object or library function.
Result<Value> invoke(TraceState& trace, const Value& callee, Arguments arguments);
/// Removes the keyword of that name from the arguments and returns it; not set if it is missing.
std::optional<Value> take_keyword(Arguments& arguments, std::string_view name);
/// The items that a loop over the value sees.
Result<std::vector<Value>> iterate(TraceState& trace, const Value& value);

}  // namespace kw::frontend
