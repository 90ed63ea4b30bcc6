// Statements of the reference, run one after the other.
#pragma once

#include "frontend/trace_state.h"

namespace kw::frontend {

Result<Flow> run_all(TraceState& trace, const Json& statements);
Result<Flow> run(TraceState& trace, const Json& statement);
/// Assigns to a name, an attribute, an item or several of them.
Status assign(TraceState& trace, const Json& target, const Value& value);

}  // namespace kw::frontend
