// nn.Module from the outside: which methods every module has, and what state it holds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "frontend/objects.h"
#include "frontend/value.h"

namespace kw::frontend {

/// eval, train, to, parameters, register_buffer, …
bool is_module_method(const std::string& name);

/// Every tensor a module and its children hold, named by path ("net.0.weight"), in the order of
/// registration. A tensor held twice appears once.
std::vector<std::pair<std::string, Tensor>> state_of(const Object& module);
/// The module and all beneath it, each once, itself first; paths as PyTorch names them.
std::vector<std::pair<std::string, std::shared_ptr<Object>>> modules_of(
    const std::shared_ptr<Object>& module);

}  // namespace kw::frontend
