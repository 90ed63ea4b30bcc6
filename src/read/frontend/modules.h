// The methods that every nn.Module has, and the state that a module holds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "frontend/objects.h"
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

}  // namespace kw::frontend
