// Names of the file. Internal.
#pragma once

#include <string>

#include "cuda_import/host_state.h"

namespace kw::cuda_import {

/// Its number among the slots; HostValue::kNoSlot for an unknown name.
size_t find_variable(HostState& host, const std::string& name);
void read_enumerators(HostState& host);

}  // namespace kw::cuda_import
