// Calls in host code: functions of the file, lambdas, the CUDA runtime, libraries. Internal.
#pragma once

#include <string>
#include <vector>

#include "cuda_import/host_state.h"

namespace kw::cuda_import {

HostValue call(HostState& host, const std::string& name, TokenRange templates, bool has_templates,
               const cuda_source::Token& where);
/// Reads the lambda at `host.at`.
HostValue lambda_value(HostState& host);
HostValue call_lambda(HostState& host, const HostValue& function,
                      const std::vector<TokenRange>& arguments, const cuda_source::Token& where);
/// Runs the tokens `body` of a code; all of them for an empty range.
HostValue run_body(HostState& host, size_t code, TokenRange body, const cuda_source::Token& where);

}  // namespace kw::cuda_import
