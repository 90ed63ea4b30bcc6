// Statements of host code. Internal.
#pragma once

#include "cuda_import/host_state.h"

namespace kw::cuda_import {

Flow statement(HostState& host);
Flow block(HostState& host, TokenRange range);
Flow if_statement(HostState& host, size_t start);
Flow switch_statement(HostState& host, size_t start);
/// A branch that is left out because calls succeed must not launch.
void check_left_out(HostState& host, TokenRange range);
/// The place behind the statement that starts at `at`.
size_t behind_statement(const HostState& host, size_t at, int depth = 0);
/// The value of what stands in the parentheses of an 'if', declarations included.
HostValue condition_value(HostState& host, TokenRange range);
/// Reads a loop over the shape as a repeat of the plan; false if it is another loop.
/// `first_slot`: variables from this one on were declared in the loop's head.
bool repeat_loop(HostState& host, TokenRange condition, TokenRange step, size_t body,
                 size_t first_slot);

}  // namespace kw::cuda_import
