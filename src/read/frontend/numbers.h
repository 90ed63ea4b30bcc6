// Arithmetic, comparison and truth of Python's numbers, strings and containers. Tensors are not
// handled here. A comparison of symbolic ints adds a guard to the trace.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "frontend/value.h"
#include "graph/builder.h"

namespace kw::frontend {

/// The longest list and string that a reference may have.
inline constexpr int64_t kMaxItems = 200000;
inline constexpr size_t kMaxText = 1 << 20;

/// An int or a bool as Dim; not set for other types.
std::optional<graph::Dim> as_dim(const Value& value);
/// A float, an int or a bool; not set for other types. Fixes runtime scalars, as as_dim does.
std::optional<double> as_number(const Value& value);
bool is_number(const Value& value);
/// The number with how it follows from extents and runtime scalars; not set for other types.
std::optional<graph::Number> as_symbolic(const Value& value);
/// A function of numbers by its name in plans: "sqrt" of {D} is 1.41 and "sqrt(D)". Not set when no
/// argument follows from anything, or plans lack the function.
std::optional<Value> symbolic_call(const std::string& name, const std::vector<Value>& arguments,
                                   double result);
/// int(), floor() or trunc() (`up`: ceil()) of a multiple or a fraction of an extent: an extent
/// again. Not set for other numbers.
std::optional<graph::Dim> whole_part(const Value& value, bool up);

/// `op` is the class in Python's ast: "Add", "FloorDiv", …. Errors have Python's words.
Result<Value> arithmetic(graph::Builder& graph, std::string_view op, const Value& a,
                         const Value& b);
Result<Value> negate(std::string_view op, const Value& a);  // "USub", "UAdd", "Invert"
/// `op` is "Lt", "Eq", "In", "Is", …. Adds a guard if a symbolic int decides.
Result<bool> compare(graph::Builder& graph, std::string_view op, const Value& a, const Value& b);
/// bool(value), for all values except tensors.
Result<bool> truth(graph::Builder& graph, const Value& value);
/// Equality without guards, for dict keys and `in`.
bool same(const Value& a, const Value& b, int depth = 0);

/// For a float whose value decides something: extents behind it are guarded, runtime scalars become
/// constants of the task.
void finalize(graph::Builder& graph, const Value& value);
/// The int's value. If it is symbolic, the trace then assumes this value.
int64_t concrete(graph::Builder& graph, const graph::Dim& dim);
/// a <= b for extents. Adds a guard unless both are constant or the same expression.
bool at_most(graph::Builder& graph, const graph::Dim& a, const graph::Dim& b);

/// str(value), for messages and f-strings.
std::string to_text(const Value& value, int depth = 0);

}  // namespace kw::frontend
