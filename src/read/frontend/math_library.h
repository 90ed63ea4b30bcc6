// Python's math module and round(), on numbers. NumPy's functions of the same name are served, too,
// if their arguments are numbers.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "frontend/value.h"

namespace kw::frontend {

/// Calls "sqrt", "ceil", …. The Error is Python's, or says that the function is unknown.
Result<Value> call_math(graph::Builder& graph, const std::string& name,
                        const std::vector<Value>& arguments);
/// round(value, digits); digits may be None.
Result<Value> round_number(graph::Builder& graph, const Value& value, const Value& digits);

}  // namespace kw::frontend
