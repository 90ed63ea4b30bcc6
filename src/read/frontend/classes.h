// Classes of the file, their objects, and attributes of all values.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "frontend/trace_state.h"

namespace kw::frontend {

/// The name of an attribute as used inside a class: each class has its own __name.
std::string private_name(const TraceState& trace, const std::string& name);
Result<Value> make_class(TraceState& trace, const Json& statement);
Result<Value> instantiate(TraceState& trace, const std::shared_ptr<Class>& cls,
                          Arguments arguments);
Result<Value> make_plain_object(TraceState& trace, const std::string& name);
Result<Value> apply_autograd(TraceState& trace, const std::shared_ptr<Class>& cls,
                             Arguments arguments);
Result<Value> make_super(TraceState& trace, Arguments arguments);
/// The attribute; not set when the value has no attribute of that name.
Result<std::optional<Value>> attribute(TraceState& trace, const Value& value,
                                       const std::string& name);
Status set_attribute(TraceState& trace, const Value& object, const std::string& name,
                     const Value& value);

}  // namespace kw::frontend
