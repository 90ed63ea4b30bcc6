// Names of the file. Internal.
#pragma once

#include <string>

#include "cuda_import/host_state.h"

namespace kw::cuda_import {

/// Its number among the slots; HostValue::kNoSlot for an unknown name.
size_t find_variable(HostState& host, const std::string& name);
/// Whether a variable is named in these tokens.
bool names_variable(HostState& host, TokenRange range);
/// Whether the value of these tokens may be a variable's that was lost on the way, so that a
/// reference to it cannot be followed.
bool may_be_place(const HostState& host, TokenRange range);
/// The variable that a reference of this type to the value is another name of; kNoSlot: it gets a
/// value of its own.
size_t aliased(const HostState& host, const CType& type, const HostValue& value);
void read_enumerators(HostState& host);

}  // namespace kw::cuda_import
