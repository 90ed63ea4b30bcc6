// Python's numbers, strings and containers as far as a trace computes with them: arithmetic,
// comparison, truth. Tensors are not handled here. Comparisons of symbolic ints leave guards.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "frontend/value.h"
#include "graph/builder.h"

namespace kw::frontend {

/// Longer lists and strings than these are no part of a reference.
inline constexpr int64_t kMaxItems = 200000;
inline constexpr size_t kMaxText = 1 << 20;

/// int or bool as Dim; nothing for other types.
std::optional<graph::Dim> as_dim(const Value& value);
/// float, int or bool.
std::optional<double> as_number(const Value& value);

/// `op` is the ast class: "Add", "FloorDiv", …. Errors are Python's.
Result<Value> arithmetic(graph::Builder& graph, std::string_view op, const Value& a,
                         const Value& b);
Result<Value> negate(std::string_view op, const Value& a);  // "USub", "UAdd", "Invert"
/// "Lt", "Eq", "In", "Is", …
Result<bool> compare(graph::Builder& graph, std::string_view op, const Value& a, const Value& b);
/// bool(value), for everything but tensors.
Result<bool> truth(graph::Builder& graph, const Value& value);
/// Equality of values without guards, for dict keys and `in`.
bool same(const Value& a, const Value& b, int depth = 0);

/// The int's value, remembered as an assumption of the trace when it is symbolic.
int64_t concrete(graph::Builder& graph, const graph::Dim& dim);
/// a <= b for extents; left as a guard unless both are constant or the same expression.
bool at_most(graph::Builder& graph, const graph::Dim& a, const graph::Dim& b);

/// str(value): for messages and f-strings.
std::string to_text(const Value& value, int depth = 0);

}  // namespace kw::frontend
