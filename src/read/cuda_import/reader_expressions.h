// Expressions of host code. Internal.
#pragma once

#include "cuda_import/host_state.h"

namespace kw::cuda_import {

HostValue evaluate(HostState& host, TokenRange range);
/// The value as a dim3; a problem where it has none.
Extents extents_of(HostState& host, const HostValue& value, const cuda_source::Token& where,
                   const char* what);

}  // namespace kw::cuda_import
