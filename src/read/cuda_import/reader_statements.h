// Statements of host code. Internal.
#pragma once

#include "cuda_import/host_state.h"

namespace kw::cuda_import {

Flow statement(HostState& host);
Flow block(HostState& host, TokenRange range);
/// Reads a loop over the shape as a repeat of the plan; false if it is another loop.
bool repeat_loop(HostState& host, TokenRange condition, TokenRange step, size_t body);

}  // namespace kw::cuda_import
