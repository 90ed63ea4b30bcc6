// Launches and memory calls of host code, recorded. Internal.
#pragma once

#include <vector>

#include "cuda_import/host_state.h"

namespace kw::cuda_import {

void launch(HostState& host, const HostValue& kernel, const cuda_source::Token& where);
void launch_by_call(HostState& host, const std::vector<TokenRange>& arguments, bool cooperative,
                    const cuda_source::Token& where);
void allocate(HostState& host, const std::vector<TokenRange>& arguments,
              const cuda_source::Token& where);
void set_memory(HostState& host, const std::vector<TokenRange>& arguments,
                const cuda_source::Token& where);
void copy_memory(HostState& host, const std::vector<TokenRange>& arguments,
                 const cuda_source::Token& where);

}  // namespace kw::cuda_import
