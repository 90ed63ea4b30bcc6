// nn.Module in a trace: modules of torch.nn, the methods that every module has, and their state.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/objects.h"
#include "frontend/trace_state.h"
#include "frontend/value.h"

namespace kw::frontend {

/// Whether every nn.Module has this method: eval, train, to, parameters, register_buffer, …
bool is_module_method(const std::string& name);

/// Every tensor of a module and its children, named by path ("net.0.weight"), in the order of
/// registration. A tensor that is held twice appears once.
std::vector<std::pair<std::string, Tensor>> state_of(const Object& module);
/// The module itself, then all modules below it, each once; paths are PyTorch's.
std::vector<std::pair<std::string, std::shared_ptr<Object>>> modules_of(
    const std::shared_ptr<Object>& module);

/// Whether torch.nn.NAME is a module or container that is known here.
bool is_library_module(std::string_view name);
/// Makes torch.nn.NAME.
Result<Value> make_library_module(TraceState& trace, const std::string& name, Arguments arguments);
Result<Value> make_parameter(TraceState& trace, const Value& value);
/// Calls a module, or another object with __call__.
Result<Value> call_object(TraceState& trace, const std::shared_ptr<Object>& object,
                          Arguments arguments);
Result<Value> module_method(TraceState& trace, const std::shared_ptr<Object>& object,
                            const std::string& name, Arguments arguments);
Status assign_module_item(TraceState& trace, const std::shared_ptr<Object>& object,
                          const Value& index, const Value& value);
Result<Value> slice_module(TraceState& trace, const Object& container, const Value& items);
/// copy.deepcopy of a module: new weights of the same shapes.
Result<Value> copy_module(TraceState& trace, const std::shared_ptr<Object>& object,
                          std::map<const void*, Value>& known);

}  // namespace kw::frontend
