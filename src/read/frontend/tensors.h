// Tensors in a trace: calls of op rows, methods, attributes, in-place updates, random tensors.
#pragma once

#include <optional>
#include <string>

#include "frontend/trace_state.h"

namespace kw::frontend {

Result<Value> call_row(TraceState& trace, const std::string& name, Arguments arguments);
Result<Value> call_tensor_method(TraceState& trace, const Tensor& self, const std::string& name,
                                 Arguments arguments);
Result<std::optional<Value>> tensor_attribute(TraceState& trace, const Tensor& tensor,
                                              const std::string& name);
Result<Value> random_tensor(TraceState& trace, const std::string& name, Arguments arguments);

Result<graph::NodeId> node_of(TraceState& trace, const Tensor& tensor);
Status store(TraceState& trace, const Tensor& target, graph::NodeId value, bool convert);
Status check_size(TraceState& trace, const Value& result);
bool is_parameter(const TraceState& trace, const Tensor& tensor);
/// Records the number that a parameter is filled with while a module is constructed. Not set: the
/// parameter gets several numbers.
void note_fill(TraceState& trace, const Tensor& parameter, std::optional<double> number);
/// The number that every element of a tensor has; not set when it is unknown.
std::optional<double> number_throughout(const TraceState& trace, graph::NodeId id);
std::optional<double> number_given(TraceState& trace, const Value& value);
/// The number that a tensor holds; not set when it is unknown before the run.
Result<std::optional<Value>> constant_of(TraceState& trace, const Tensor& tensor);

}  // namespace kw::frontend
