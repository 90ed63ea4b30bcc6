// Python's math module, and round(), on numbers. numpy's functions of the same name are served too
// when they get numbers.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "frontend/value.h"

namespace kw::frontend {

/// "sqrt", "ceil", …; an Error in Python's terms, or that the function is not known.
Result<Value> call_math(const std::string& name, const std::vector<Value>& arguments);
/// round(value, digits); digits may be None.
Result<Value> round_number(const Value& value, const Value& digits);

}  // namespace kw::frontend
